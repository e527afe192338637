;;; drive.el --- eglot, as it comes with Emacs, in front of agent-server -*- lexical-binding: t; -*-

;; emacs --batch -Q -l drive.el -f drive
;; Environment: AGENT_COMMAND (a JSON list of words), AGENT_FILE.  What was seen is printed as one line of JSON.
;; Nothing here knows agent-server's own messages.

(require 'eglot)
(require 'python)
(require 'cl-lib)
(require 'json)

(defvar drive-messages nil "Texts of `window/showMessage', the latest first.")
(defvar drive-questions nil "What the person was asked, the latest first.")
(defvar drive-progress nil "Kinds of `$/progress', the latest first.")

(cl-defmethod eglot-handle-notification :before (_server (_method (eql window/showMessage)) &key message &allow-other-keys)
  (push message drive-messages))

(cl-defmethod eglot-handle-notification :before (_server (_method (eql $/progress)) &key value &allow-other-keys)
  (push (plist-get value :kind) drive-progress))

(defun drive-until (what done)
  "Let the server speak until DONE returns non-nil; fail with WHAT after 15 seconds."
  (with-timeout (15 (error "Waited in vain for %s" what))
    (while (not (funcall done))
      (accept-process-output nil 0.05))))

(defun drive-says (words)
  "Whether the person was told WORDS."
  (cl-some (lambda (message) (string-match-p (regexp-quote words) message)) drive-messages))

(defun drive-command (server name &rest arguments)
  "Run the command NAME of SERVER with ARGUMENTS, as the person would."
  (eglot-execute server (list :command name :arguments (vconcat arguments))))

(defun drive ()
  "Prompt by command, answer the question, see the edit, undo it, explain by code action."
  (setq eglot-sync-connect 15
        eglot-confirm-server-edits nil
        eglot-server-programs
        `((python-mode . ,(append (json-parse-string (getenv "AGENT_COMMAND") :array-type 'list) nil))))
  (find-file (getenv "AGENT_FILE"))
  (python-mode)
  (buffer-enable-undo)
  (call-interactively #'eglot)
  (let ((server (eglot-current-server)) edited undone titles)
    (cl-letf (((symbol-function 'completing-read)
               (lambda (prompt &rest _) (push prompt drive-questions) "Accept")))
      (drive-command server "agent.prompt" "go")
      (drive-until "the edit" (lambda () (string-prefix-p "ONE" (buffer-string))))
      (setq edited (buffer-string))
      (drive-until "the answer" (lambda () (drive-says "All done"))))
    (undo-boundary)
    (let ((inhibit-message t)) (undo))
    (setq undone (buffer-string))
    (let ((actions (eglot-code-actions (point-min) (point-max) "refactor.rewrite.agent")))
      (setq titles (mapcar (lambda (action) (plist-get action :title)) actions))
      (eglot-execute server (cl-find "Explain with the agent" actions
                                     :key (lambda (action) (plist-get action :title)) :test #'equal)))
    (drive-until "the explanation" (lambda () (drive-says "It is a list")))
    (princ (json-serialize
            (list :edited edited :undone undone
                  :questions (vconcat (reverse drive-questions))
                  :messages (vconcat (reverse drive-messages))
                  :progress (vconcat (reverse drive-progress))
                  :titles (vconcat titles))))
    (terpri)
    (set-buffer-modified-p nil)
    (eglot-shutdown server)))

;;; drive.el ends here
