"""The tables, as steps from one version to the next.

A step that has been released is never changed; `user_version` says how many were taken. Text that people or models
wrote is stored as bytes (UTF-8, lone surrogates let through), times as whole milliseconds since 1970 UTC.
"""

STEPS: tuple[str, ...] = (
    """
    CREATE TABLE session (
        id TEXT PRIMARY KEY,
        cwd BLOB NOT NULL,
        roots BLOB NOT NULL,          -- JSON list of further roots
        title BLOB,
        model BLOB,
        mode TEXT NOT NULL,
        system_prompt BLOB,           -- as first sent, so that a resumed session sends the same bytes
        parent TEXT REFERENCES session (id) ON DELETE SET NULL,
        created INTEGER NOT NULL,
        updated INTEGER NOT NULL,     -- of the last message, not of the last change to this row
        entries INTEGER NOT NULL DEFAULT 0,
        damage TEXT                   -- why the log could not be read when it was last opened
    );
    CREATE INDEX session_by_time ON session (updated, id);
    CREATE INDEX session_by_parent ON session (parent);

    CREATE TABLE entry (
        session TEXT NOT NULL REFERENCES session (id) ON DELETE CASCADE,
        place INTEGER NOT NULL,       -- from 0, without gaps
        at INTEGER NOT NULL,
        kind TEXT NOT NULL,
        body BLOB NOT NULL,
        PRIMARY KEY (session, place)
    );

    CREATE TABLE effect (             -- receipts: no arguments, no outputs
        session TEXT NOT NULL REFERENCES session (id) ON DELETE CASCADE,
        reply INTEGER NOT NULL,
        idx INTEGER NOT NULL,
        phase TEXT NOT NULL,          -- pending, started, settled
        tool BLOB NOT NULL,
        disposition TEXT,             -- none, confirmed, unknown; once settled
        at INTEGER NOT NULL,
        PRIMARY KEY (session, reply, idx, phase)
    ) WITHOUT ROWID;

    CREATE TABLE grant (
        scope TEXT NOT NULL,          -- session, workspace
        owner BLOB NOT NULL,          -- the session's id, the workspace's path
        key BLOB NOT NULL,
        verdict TEXT NOT NULL,
        at INTEGER NOT NULL,
        PRIMARY KEY (scope, owner, key)
    ) WITHOUT ROWID;

    CREATE TABLE lock (
        session TEXT PRIMARY KEY REFERENCES session (id) ON DELETE CASCADE,
        owner TEXT NOT NULL,          -- unique to one opened store
        pid INTEGER NOT NULL,
        started TEXT NOT NULL,        -- start of the process, so that a reused pid is not taken for the owner
        place TEXT NOT NULL,          -- machine, boot and pid namespace in which the pid means something
        beat INTEGER NOT NULL
    ) WITHOUT ROWID;
    CREATE INDEX lock_by_owner ON lock (owner);
    """,
    """
    CREATE TABLE edit (               -- the journal of edits: append-only, one row per change of state
        session TEXT NOT NULL REFERENCES session (id) ON DELETE CASCADE,
        place INTEGER NOT NULL,       -- from 0, without gaps
        at INTEGER NOT NULL,
        txn TEXT NOT NULL,
        revision INTEGER NOT NULL,
        state TEXT NOT NULL,
        body BLOB NOT NULL,           -- files by the hashes of their texts, which are in blobs/
        PRIMARY KEY (session, place)
    ) WITHOUT ROWID;
    """,
    """
    -- The call of the parent that a sub-agent answers. Such sessions are in no list and go with their parent.
    ALTER TABLE session ADD COLUMN delegated_by TEXT;
    """,
    """
    -- When the person is asked about edits, as they chose it here; NULL: as the settings say. From this version on logs
    -- may hold entries of the kinds `rewound` and `aside`.
    ALTER TABLE session ADD COLUMN review TEXT;
    """,
)
