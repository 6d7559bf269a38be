// Written by `ctxfold install opencode --hooks`; `ctxfold uninstall opencode --hooks` takes it away.
// It hands events to `python -m mcp_server.hooks opencode`, and on any fault leaves what opencode has as it is.
import { spawn } from "node:child_process"

const COMMAND = ["PYTHON", "-I", "-m", "mcp_server.hooks", "opencode"]
const LONG = 2000
const SECONDS = 60

function ask(event) {
  return new Promise((resolve) => {
    try {
      const child = spawn(COMMAND[0], COMMAND.slice(1), { stdio: ["pipe", "pipe", "ignore"], timeout: SECONDS * 1000 })
      const said = []
      child.stdout.on("data", (part) => said.push(part))
      child.on("error", () => resolve(undefined))
      child.on("close", () => {
        try {
          resolve(JSON.parse(Buffer.concat(said).toString("utf8")).answer)
        } catch {
          resolve(undefined)
        }
      })
      child.stdin.on("error", () => {})
      child.stdin.end(JSON.stringify(event))
    } catch {
      resolve(undefined)
    }
  })
}

export const Ctxfold = async ({ client }) => {
  const kept = new Map() // of each session what its model is given since the last compaction, or the promise of it

  async function tell(name, session, more) {
    const found = await client.session.messages({ path: { id: session } }).catch(() => undefined)
    return ask({ hook_event_name: name, session_id: session, messages: found?.data ?? [], ...more })
  }

  return {
    "tool.execute.after": async (input, output) => {
      const place = typeof output.output === "string" ? "output" : "content"
      if (Buffer.byteLength(JSON.stringify(output[place] ?? "")) < LONG) return
      const answer = await ask({
        hook_event_name: "PostToolUse",
        session_id: input.sessionID,
        tool_name: input.tool,
        tool_use_id: input.callID,
        tool_input: input.args,
        tool_response: output[place],
      })
      if (answer !== undefined) output[place] = answer
    },
    "experimental.session.compacting": async (input, output) => {
      const answer = await tell("PreCompact", input.sessionID)
      if (answer !== undefined) output.context.push(answer)
    },
    event: async ({ event }) => {
      const session = event.properties?.sessionID
      if (event.type === "session.compacted") kept.set(session, tell("SessionStart", session, { source: "compact" }))
      if (event.type === "session.idle") await tell("Stop", session)
    },
    "experimental.chat.system.transform": async (input, output) => {
      const text = await kept.get(input.sessionID)
      if (text) output.system.push(text)
    },
  }
}
