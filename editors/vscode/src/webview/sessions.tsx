/** Stored conversations: go on with one, or delete it. */

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
    <nav class="sessions" aria-label="Sessions">
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
              <span class="object">{session.title ?? "Untitled"}</span>
              <span class="outcome">{when(session.updatedAt)}</span>
            </button>
            <IconButton
              icon="trash"
              label={`Delete ${session.title ?? "Untitled"}`}
              onClick={() => send({ kind: "deleteSession", sessionId: session.sessionId })}
            />
          </li>
        ))}
      </ul>
    </nav>
  );
}

function when(iso: string | null | undefined): string {
  if (iso == null) return "";
  const date = new Date(iso);
  const isToday = date.toDateString() === new Date().toDateString();
  return isToday ? date.toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" }) : date.toLocaleDateString();
}
