// A day with the chat: commands, context, what is said to a running turn, questions, sessions and what is kept of them.
import assert from "node:assert/strict";

const prompt = (chat) => chat.getByRole("textbox", { name: "Prompt" });
/** The chat of the session that is shown from now on. */
const user = (chat, words) => chat.locator(".user:not(.waiting)", { hasText: words });

/** A mode by `/`, a file by `@`; a plan; a question of the model; an allowance for the session; what it cost. */
export async function day(w, place) {
  await w.openFile("dates.py");
  await w.command("Agent: Open chat");
  const chat = await w.chat();
  await prompt(chat).click();
  await w.page.keyboard.type("/mod");
  await chat.getByRole("option", { name: "/mode Choose a mode" }).waitFor();
  await w.press("ArrowDown", "Enter");
  await w.pick("Plan");
  const mode = chat.getByRole("combobox", { name: "Mode", exact: true });
  await chat.locator("select[title^='Only reads']").waitFor();
  await mode.selectOption("ask");

  await prompt(chat).click();
  await w.page.keyboard.type("Look at @dts");
  await chat.getByRole("option", { name: "src/dates.py" }).waitFor();
  await w.press("Enter");
  await chat.locator(".chips li", { hasText: "dates.py" }).waitFor();
  await w.press("Enter");
  await user(chat, "Look at @src/dates.py").locator(".attached", { hasText: "src/dates.py" }).waitFor();
  await chat.locator(".plan li.in_progress", { hasText: "Ask about weeks" }).waitFor();

  await chat.locator(".question", { hasText: "Which calendar?" }).getByRole("button", { name: "ISO 8601" }).click();
  const asked = chat.locator(".question", { hasText: "outside.txt" });
  await asked.getByRole("button", { name: /this session$/ }).click();
  await chat.locator(".message", { hasText: "All done" }).waitFor();
  // The same again was not asked about.
  assert.equal(await chat.locator(".tool.completed", { hasText: "outside.txt" }).count(), 2);
  assert.match(await chat.locator(".end").innerText(), /tokens/);
  await chat.getByRole("img", { name: /^Context \d+ %/ }).waitFor();
  await w.shot(`${place}/day.png`);

  await w.page.reload();
  const again = await w.chat();
  await again.locator(".end", { hasText: "tokens" }).waitFor();
  await again.locator(".plan li", { hasText: "Ask about weeks" }).waitFor();
  const shown = again.locator(".tool.completed", { hasText: "outside.txt" });
  await shown.nth(1).waitFor(); // a session is drawn in steps
  assert.equal(await shown.count(), 2);
}

/** While a turn runs: what waits is seen and can be taken back, what steers is heard, what redirects is heard at once. */
export async function running(w) {
  const chat = await w.ask("Count");
  await chat.locator(".message", { hasText: "12" }).waitFor();
  await prompt(chat).fill("Never mind");
  await prompt(chat).press("Enter");
  await chat.locator(".waiting", { hasText: "Never mind" }).getByRole("button", { name: "Take back" }).click();
  await chat.locator(".waiting").waitFor({ state: "detached" });
  await chat.waitForFunction(() => document.querySelector("textarea").value === "Never mind");

  await prompt(chat).fill("Use tabs");
  await prompt(chat).press("Alt+Enter");
  await chat.locator(".waiting", { hasText: "heard at the next step" }).waitFor();
  await prompt(chat).fill("Stop counting");
  await prompt(chat).press("Control+Enter");
  await user(chat, "Stop counting").waitFor();
  await user(chat, "Use tabs").waitFor();
  await chat.locator(".message", { hasText: "I stopped" }).waitFor();
  await chat.locator(".waiting").waitFor({ state: "detached" });
  await w.status(/^\W*Agent$/);
  assert.equal(await user(chat, "Never mind").count(), 0);
}

/** Sessions are named, copied, saved as a document, and deleted after a question. */
export async function sessions(w) {
  let chat = await w.ask("Remember the word plover");
  await chat.locator(".end").waitFor();
  await w.command("Agent: Name the session…");
  await w.answer("About birds");
  await chat.getByRole("heading", { name: "About birds" }).waitFor();

  await chat.getByRole("button", { name: "Sessions" }).click();
  await chat.getByRole("button", { name: "Fork About birds" }).click();
  await chat.getByRole("navigation", { name: "Sessions" }).waitFor({ state: "detached" });
  await user(chat, "plover").waitFor();
  await prompt(chat).fill("And the word heron");
  await prompt(chat).press("Enter");
  await chat.locator(".message", { hasText: "Two words" }).waitFor();

  await prompt(chat).fill("/export");
  await prompt(chat).press("Enter");
  await w.pick("Open as Markdown");
  await w.page.locator(".editor-container .view-lines", { hasText: "heron" }).waitFor();

  await w.command("Agent: Open chat");
  chat = await w.chat();
  await chat.getByRole("button", { name: "Sessions" }).click();
  const list = chat.getByRole("navigation", { name: "Sessions" });
  await list.getByRole("listitem").nth(1).waitFor();
  await list
    .locator("li.current")
    .getByRole("button", { name: /^Delete/ })
    .click();
  await w.asked();
  await w.press("Enter"); // the row that is there first keeps it
  await w.page.locator(".quick-input-widget").waitFor({ state: "hidden" });
  assert.equal(await list.locator("li", { hasText: "About birds (fork)" }).count(), 1);
  await list
    .locator("li.current")
    .getByRole("button", { name: /^Delete/ })
    .click();
  await w.pick("Delete it");
  await list.locator("li", { hasText: "About birds (fork)" }).waitFor({ state: "detached" });
  await list.locator("li", { hasText: "About birds" }).getByRole("button").first().click();
  await user(chat, "plover").waitFor();
  assert.equal(await user(chat, "heron").count(), 0);
}

/** What an answer shows as code is put where the cursor is, or becomes an edit that is reviewed. */
export async function code(w) {
  await w.openFile("dates.py");
  const chat = await w.ask("How do I say it twice?");
  await chat.locator(".end").waitFor();
  await chat.getByRole("button", { name: "Insert at cursor" }).click();
  await w.page.locator(".editor-container .view-lines", { hasText: "twice" }).waitFor();

  await chat.getByRole("button", { name: "Apply as edit" }).click();
  await user(chat, "Apply this code to @dates.py").locator(".attached", { hasText: "dates.py" }).waitFor();
  await chat.getByRole("button", { name: "Accept all" }).click();
  await chat.locator(".message", { hasText: "Applied" }).waitFor();
  await w.save("dates.py");
}

/** Where there are several folders the person says in which one a session works, and files are told apart. */
export async function folders(w) {
  await w.command("Agent: New session");
  await w.pick("back");
  const chat = await w.chat();
  await chat.locator(".folder", { hasText: "back" }).waitFor();
  await prompt(chat).fill("");
  await prompt(chat).pressSequentially("Read @dates");
  await chat.getByRole("option", { name: "front/dates.py" }).waitFor();
  await chat.getByRole("option", { name: "back/dates.py" }).waitFor();
  await prompt(chat).fill("Where are you?");
  await prompt(chat).press("Enter");
  await chat.locator(".tool.completed", { hasText: "list" }).waitFor();
  await chat.locator(".message", { hasText: "In the back" }).waitFor();
}

/** What a terminal said goes with a prompt; where nothing is known of one, that is said. */
export async function terminal(w) {
  const chat = await w.ask("Before: @terminal");
  await w.toast("no command that ran in a terminal is known").waitFor();
  await chat.locator(".message", { hasText: "Nothing came" }).waitFor();
  await w.command("Terminal: Create New Terminal");
  // The mark of a prompt: the shell tells VS Code what happens from then on.
  await w.page.locator(".terminal-command-decoration").first().waitFor();
  await w.focused(".terminal");
  // VS Code may miss what a command says in its first moment.
  await w.page.keyboard.type("for i in 1 2 3; do sleep 0.5; echo plo''ver; done");
  await w.press("Enter");
  await w.page.locator(".terminal-command-decoration.codicon-terminal-decoration-success").waitFor();
  await w.command("Agent: Open chat");
  await chat.waitForFunction(() => document.hasFocus()); // else what is typed goes to the terminal
  await prompt(chat).fill("After: @terminal");
  await chat.locator(".chips li", { hasText: "terminal" }).waitFor();
  await prompt(chat).press("Enter");
  await user(chat, "After").locator(".attached", { hasText: "terminal" }).waitFor();
  await chat.locator(".message", { hasText: "It said so" }).waitFor();
}
