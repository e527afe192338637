/** Stored conversations: go on with one or with a copy, save it as a document, delete it. */

import { printableLine } from "../chat/printable";
import type { SessionInfo } from "../protocol/acp";
import { send } from "./host";
import { IconButton } from "./text";

interface Props {
  readonly sessions: readonly SessionInfo[];
  readonly current: string | null;
  readonly close: () => void;
}

export function Sessions({ sessions, current, close }: Props) {
  return (
    <nav
      class="sessions"
      aria-label="Sessions"
      onKeyDown={(event) => {
        if (event.key === "Escape") close();
      }}
    >
      {sessions.length === 0 && <p class="quiet">No sessions yet</p>}
      <ul>
        {sessions.map((session) => (
          <li key={session.sessionId} class={session.sessionId === current ? "current" : ""}>
            <button
              type="button"
              class="line"
              aria-current={session.sessionId === current}
              onClick={() => {
                send({ kind: "openSession", sessionId: session.sessionId });
                close();
              }}
            >
              <span class="object" title={session.cwd}>
                {nameOf(session)}
              </span>
              <span class="outcome">{when(session.updatedAt)}</span>
            </button>
            <IconButton
              icon="repo-forked"
              label={`Fork ${nameOf(session)}`}
              onClick={() => {
                send({ kind: "forkSession", sessionId: session.sessionId });
                close();
              }}
            />
            <IconButton
              icon="export"
              label={`Export ${nameOf(session)}`}
              onClick={() => send({ kind: "exportSession", sessionId: session.sessionId })}
            />
            <IconButton
              icon="trash"
              label={`Delete ${nameOf(session)}`}
              onClick={() => send({ kind: "deleteSession", sessionId: session.sessionId })}
            />
          </li>
        ))}
      </ul>
    </nav>
  );
}

function nameOf(session: SessionInfo): string {
  return printableLine(session.title ?? "Untitled");
}

function when(iso: string | null | undefined): string {
  if (iso == null) return "";
  const date = new Date(iso);
  const isToday = date.toDateString() === new Date().toDateString();
  return isToday ? date.toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" }) : date.toLocaleDateString();
}
