/** The chat: header, transcript, what waits, input. Draws the state and keeps the end in view. */

import { memo } from "preact/compat";
import { useEffect, useRef, useState } from "preact/hooks";
import { announcement } from "../chat/announce";
import type { ServerState, ViewCommand } from "../chat/bridge";
import { printableLine } from "../chat/printable";
import type { ChatState, Item, Waiting } from "../chat/state";
import { pendingWords } from "../chat/words";
import { AnswerButton } from "./answer";
import { Composer } from "./composer";
import { useGrowing } from "./growing";
import { send } from "./host";
import { Attached, ItemView } from "./items";
import { NearBox, useNear } from "./near";
import type { PageState } from "./page";
import { Sessions } from "./sessions";
import { Icon, IconButton } from "./text";

/** Pixels from the end within which the view follows what comes. */
const NEAR = 40;
/** Items that are drawn in one frame, and compared one by one: those of other groups stay as they are. */
const GROUP = 30;

export function App({ page }: { readonly page: PageState }) {
  const [listing, setListing] = useState(false);
  const { chat, server } = page;
  const title = printableLine(chat?.title ?? "New session");
  const toggle = () => {
    if (!listing) send({ kind: "listSessions" });
    setListing(!listing);
  };
  return (
    <main class="app">
      <header>
        <h2 title={title}>{title}</h2>
        {chat?.folder != null && <span class="folder quiet">{chat.folder}</span>}
        <IconButton icon="history" label="Sessions" expanded={listing} onClick={toggle} />
        <IconButton icon="add" label="New session" onClick={() => run("agent.newSession")} />
      </header>
      {listing && <Sessions sessions={page.sessions} current={page.currentSession} close={() => setListing(false)} />}
      <Trouble server={server} />
      {/* Another session is another transcript: drawn from its end, in steps. */}
      {chat !== null && <Transcript key={chat.sessionId} chat={chat} server={server} />}
      {/* The one place that speaks by itself: the transcript changes too often for that. */}
      <div class="hidden" role="status">
        {chat === null ? "" : announcement(chat)}
      </div>
      {chat !== null && <Plan chat={chat} />}
      {page.review.files.length > 0 && (
        <section class="review-bar" aria-label="Edits that wait for you">
          <Icon name="diff-multiple" />
          <span class="words">
            {pendingWords(page.review.edits, page.review.files.length)}
            {page.review.outside.map((words) => (
              <span key={words} class="outside">
                <Icon name="warning" /> {words}
              </span>
            ))}
          </span>
          <button type="button" class="primary" onClick={() => run("agent.review")}>
            Review
          </button>
          <AnswerButton class="secondary" onAnswer={() => run("agent.acceptAll")}>
            Accept all
          </AnswerButton>
          <button type="button" class="secondary" onClick={() => run("agent.rejectAll")}>
            Reject all
          </button>
        </section>
      )}
      {chat !== null && <Composer chat={chat} completions={page.completions} composed={page.composed} />}
    </main>
  );
}

function run(command: ViewCommand): void {
  send({ kind: "command", command });
}

function Transcript({ chat, server }: { readonly chat: ChatState; readonly server: ServerState }) {
  const box = useRef<HTMLDivElement>(null);
  const content = useRef<HTMLDivElement>(null);
  const follows = useRef(true);
  // The newest first: a long conversation is complete a moment later.
  const groups = Math.ceil(chat.items.length / GROUP);
  const first = Math.max(0, groups - useGrowing(groups, 1));
  useEffect(() => {
    const { current: at } = box;
    if (at === null || content.current === null) return;
    // The end stays in view while either size changes: by what comes, by what opens, by what takes room below.
    const observer = new ResizeObserver(() => {
      if (follows.current) at.scrollTop = at.scrollHeight;
    });
    observer.observe(at);
    observer.observe(content.current);
    return () => observer.disconnect();
  }, []);
  return (
    <div
      ref={box}
      class="transcript"
      role="log"
      aria-live="off"
      aria-label="Conversation"
      // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be scrolled by keys too
      tabIndex={0}
      onScroll={({ currentTarget: at }) => {
        follows.current = at.scrollHeight - at.scrollTop - at.clientHeight < NEAR;
      }}
    >
      <div ref={content}>
        {chat.items.length === 0 && chat.waiting.length === 0 && !chat.loading && (
          <Welcome chat={chat} server={server} />
        )}
        {Array.from({ length: groups - first }, (_, index) => (
          <Group key={first + index} items={chat.items.slice((first + index) * GROUP, (first + index + 1) * GROUP)} />
        ))}
        {chat.waiting.map((one) => (
          <WaitingView key={one.id} waiting={one} busy={chat.status.busy} />
        ))}
        {chat.status.busy && (
          <p class="status">
            <Icon name="loading codicon-modifier-spin" /> {chat.status.label}
          </p>
        )}
        {chat.readOnly !== null && (
          <p class="notice warning">
            <Icon name="lock" /> Another program holds this session ({chat.readOnly}): it can be read here.
          </p>
        )}
      </div>
    </div>
  );
}

interface GroupProps {
  readonly items: readonly Item[];
}

/** Drawn again only when one of its items is another object. */
const Group = memo(
  function Group({ items }: GroupProps) {
    const [box, near] = useNear<HTMLDivElement>();
    return (
      <NearBox.Provider value={near}>
        <div ref={box} class="group">
          {items.map((item) => (
            <div key={`${item.kind}-${item.id}`} class="item">
              <ItemView item={item} />
            </div>
          ))}
        </div>
      </NearBox.Provider>
    );
  },
  ({ items: old }, { items }) => old.length === items.length && old.every((item, index) => item === items[index]),
);

const WAITS = { prompt: "queued", steer: "heard at the next step", redirect: "heard now" } as const;

/** What was said and is not heard yet. A prompt can be taken back. */
function WaitingView({ waiting, busy }: { readonly waiting: Waiting; readonly busy: boolean }) {
  return (
    <article class="user waiting" aria-label="Waiting">
      <div class="user-text">{waiting.text}</div>
      <Attached names={waiting.attached} />
      <p class="quiet">
        {busy ? WAITS[waiting.how] : "sending"}
        {busy && waiting.how === "prompt" && (
          <button type="button" class="link" onClick={() => send({ kind: "withdraw", waitingId: waiting.id })}>
            Take back
          </button>
        )}
      </p>
    </article>
  );
}

function Welcome({ chat, server }: { readonly chat: ChatState; readonly server: ServerState }) {
  const model = chat.options.find((option) => option.category === "model")?.currentValue ?? "";
  const isDemo = model === "demo" || model === "";
  if (server.kind !== "ready") return null;
  return (
    <div class="welcome">
      <Icon name="sparkle" />
      <h3>{isDemo ? "Choose a model, or try the demo" : "What should it do?"}</h3>
      <p class="quiet">
        {isDemo
          ? "The demo runs in a terminal: a script, offline and without a key; all but its words is real."
          : "It reads and searches by itself. Edits come as diffs for you to judge, commands are asked first."}
      </p>
      {isDemo && (
        <div class="buttons">
          <button type="button" class="primary" onClick={() => run("agent.openSettings")}>
            Choose a model
          </button>
          <button type="button" class="secondary" onClick={() => run("agent.tryDemo")}>
            Try the demo
          </button>
        </div>
      )}
    </div>
  );
}

const PLAN_ICONS = { pending: "circle-outline", in_progress: "arrow-right", completed: "check" } as const;

function Plan({ chat }: { readonly chat: ChatState }) {
  const [open, setOpen] = useState(true);
  if (chat.plan.length === 0) return null;
  const done = chat.plan.filter((entry) => entry.status === "completed").length;
  return (
    <section class="plan" aria-label="Plan">
      <button type="button" class="line" aria-expanded={open} onClick={() => setOpen(!open)}>
        <Icon name={open ? "chevron-down" : "chevron-right"} />
        <span>Plan</span>
        <span class="outcome">
          {done} of {chat.plan.length}
        </span>
      </button>
      {open && (
        <ul>
          {chat.plan.map((entry) => (
            <li key={entry.content} class={entry.status}>
              <Icon name={PLAN_ICONS[entry.status]} /> {printableLine(entry.content)}
              <span class="hidden"> ({entry.status.replace("_", " ")})</span>
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}

/** What is in the way, and the buttons that clear it. */
function Trouble({ server }: { readonly server: ServerState }) {
  switch (server.kind) {
    case "ready":
      return null;
    case "idle":
      return null;
    case "starting":
      return <Box icon="loading codicon-modifier-spin" title="Starting the server" text="" buttons={[]} />;
    case "noFolder":
      return (
        <Box
          icon="folder"
          title="Open a folder"
          text="The agent works in a folder: it reads, searches and edits what is in it."
          buttons={[["Open folder", "agent.openFolder"]]}
        />
      );
    case "missing":
      return (
        <Box
          icon="cloud-download"
          title={server.canInstall ? "Install the server" : "The server is missing"}
          text={`${server.message} ${server.canInstall ? INSTALL : BY_HAND}`}
          buttons={[
            ...(server.canInstall ? ([["Install", "agent.install"]] as const) : []),
            ["Settings", "agent.openSettings"],
            ["Try again", "agent.restart"],
          ]}
        />
      );
    case "installing":
      return (
        <Box
          icon="loading codicon-modifier-spin"
          title="Installing the server"
          text={`${server.step} …`}
          buttons={[]}
        />
      );
    case "restarting":
      return (
        <Box
          icon="warning"
          title="The server stopped"
          text={`${server.message}\nIt starts again in ${server.seconds} s.`}
          buttons={[
            ["Start now", "agent.restart"],
            ["Show log", "agent.showLog"],
          ]}
        />
      );
    case "failed":
      return (
        <Box
          icon="error"
          title="The server does not run"
          text={server.message}
          buttons={[
            ["Restart", "agent.restart"],
            ["Show log", "agent.showLog"],
            ["Settings", "agent.openSettings"],
          ]}
        />
      );
  }
}

const INSTALL =
  "Installing makes a Python environment in VS Code's storage for this extension, from the wheel it carries; dependencies are checked by their hashes.";
const BY_HAND = "Put agent-server on PATH, or name it in the setting agent.server.command.";

interface BoxProps {
  readonly icon: string;
  readonly title: string;
  readonly text: string;
  readonly buttons: readonly (readonly [label: string, command: ViewCommand])[];
}

function Box({ icon, title, text, buttons }: BoxProps) {
  return (
    <section class="trouble" role="status">
      <h3>
        <Icon name={icon} /> {title}
      </h3>
      {text !== "" && <p>{text}</p>}
      <div class="buttons">
        {buttons.map(([label, command], index) => (
          <button
            key={command}
            type="button"
            class={index === 0 ? "primary" : "secondary"}
            onClick={() => run(command)}
          >
            {label}
          </button>
        ))}
      </div>
    </section>
  );
}
