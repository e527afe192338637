/** What stands below the input: mode, model, and how full the model's window is. */

import type { ChatState } from "../chat/state";
import { percent, tokens } from "../chat/words";
import { send } from "./host";

export function Pickers({ chat }: { readonly chat: ChatState }) {
  const model = chat.options.find((option) => option.category === "model");
  return (
    <>
      {chat.modes !== null && (
        <select
          aria-label="Mode"
          title={chat.modes.availableModes.find((mode) => mode.id === chat.modes?.currentModeId)?.description ?? "Mode"}
          value={chat.modes.currentModeId}
          onKeyDown={openFirst}
          onChange={(event) => send({ kind: "setMode", modeId: event.currentTarget.value })}
        >
          {chat.modes.availableModes.map((mode) => (
            <option key={mode.id} value={mode.id} title={mode.description ?? ""}>
              {mode.name}
            </option>
          ))}
        </select>
      )}
      {model !== undefined && (
        <select
          aria-label="Model"
          title={`Model: ${model.currentValue}`}
          class="model"
          value={model.currentValue}
          onKeyDown={openFirst}
          onChange={(event) => send({ kind: "setOption", configId: model.id, value: event.currentTarget.value })}
        >
          {model.options.map((choice) => (
            <option key={choice.value} value={choice.value}>
              {choice.name.split("/").at(-1)}
            </option>
          ))}
        </select>
      )}
    </>
  );
}

/** A closed list would take a typed letter as a choice: it opens instead, and what is chosen there is seen. */
function openFirst(event: KeyboardEvent): void {
  const list = event.currentTarget as HTMLSelectElement;
  if (["Tab", "Escape", "Shift", "Control", "Alt", "Meta"].includes(event.key)) return;
  event.preventDefault();
  list.showPicker();
}

/** A ring that fills with the model's window. */
export function Meter({ chat }: { readonly chat: ChatState }) {
  if (chat.usage === null) return null;
  const { used, size, cost } = chat.usage;
  const share = percent(used, size);
  const label = `Context ${share} %: ${tokens(used)} of ${tokens(size)} tokens${cost === null ? "" : `, $${cost.toFixed(4)} so far`}`;
  return (
    <span class="meter" role="img" aria-label={label} title={label}>
      <svg viewBox="0 0 16 16" width="14" height="14" aria-hidden="true">
        <circle cx="8" cy="8" r="6" class="ring" />
        <circle
          cx="8"
          cy="8"
          r="6"
          class="used"
          pathLength="100"
          stroke-dasharray={`${Math.max(share, 1)} 100`}
          transform="rotate(-90 8 8)"
        />
      </svg>
      {share >= 50 && <span>{share} %</span>}
    </span>
  );
}
