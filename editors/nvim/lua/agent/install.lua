--- Installs the server that this plugin carries (`make nvim-server` puts it into `server/`) into a Python environment of
--- its own: the wheel from that file, what it depends on by the hashes of the lock beside it. Nothing waits for it.
local config = require("agent.config")
local log = require("agent.log")

local M = {}

local PYTHONS = { "python3", "python", "python3.14", "python3.13", "python3.12", "python3.11" }
local NEW_ENOUGH = "import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))"
local REMOVE = "import shutil, sys; shutil.rmtree(sys.argv[1], ignore_errors=True)"
local LIMIT_MS = 600000 -- dependencies come over the network, once
local WINDOWS = vim.fn.has("win32") == 1

local is_running = false

---@class agent.InstallStep
---@field says string what is told when it begins
---@field cmd string[]

--- Where environments are, one for each wheel.
---@return string
function M.folder()
  return vim.fs.joinpath(vim.fn.stdpath("data") --[[@as string]], "agent-server")
end

--- The wheel that this plugin carries; nil when it was not built.
---@return string?
function M.wheel()
  return vim.fn.glob(vim.fs.joinpath(M._carried(), "*.whl"), true, true)[1]
end

--- The installed program. Nil when there is none: half of an installation is none.
---@return string? program, string? wheel the name of the wheel it came from
function M.installed()
  local stamp = io.open(M._stamp())
  if not stamp then
    return nil
  end
  local wheel = vim.trim(stamp:read("*a"))
  stamp:close()
  local program = M._program(wheel, "agent-server")
  if vim.fn.executable(program) == 0 then
    return nil
  end
  return program, wheel
end

--- Install, or install anew. Tells each step, and how it ended. Another version stays until this one is there.
function M.run()
  local path = M.wheel()
  if not path then
    return log.say(
      "ERROR",
      "this copy of the plugin carries no server. `make nvim-server` in its repository builds one"
    )
  end
  if is_running then
    return log.say("INFO", "the server is being installed already")
  end
  is_running = true
  local wheel, earlier = vim.fs.basename(path), select(2, M.installed())
  if earlier == wheel then
    os.remove(M._stamp())
  end
  M._find_python(M._pythons(), function(python)
    if not python then
      local looked_for = table.concat(M._pythons(), ", ")
      return M._end(("there is no Python 3.11 or newer with venv (looked for %s)"):format(looked_for))
    end
    M._take(M._steps(python, path), 1, function(problem)
      M._end(problem or M._put_stamp(wheel))
      if not problem and earlier and earlier ~= wheel then
        M._run({ python, "-I", "-c", REMOVE, M._environment(earlier) }, function() end)
      end
    end)
  end)
end

---@private
---@return string
function M._carried()
  local here = debug.getinfo(1, "S").source:sub(2)
  return vim.fs.joinpath(vim.fs.dirname(vim.fs.dirname(vim.fs.dirname(here))), "server")
end

--- It is written last, and says that the rest is whole.
---@private
---@return string
function M._stamp()
  return vim.fs.joinpath(M.folder(), "installed")
end

---@private
---@param wheel string its name
---@return string? problem
function M._put_stamp(wheel)
  local stamp, problem = io.open(M._stamp(), "w")
  if not stamp then
    return problem
  end
  stamp:write(wheel, "\n")
  stamp:close()
end

---@private
---@param wheel string its name
---@return string
function M._environment(wheel)
  return vim.fs.joinpath(M.folder(), (wheel:gsub("%.whl$", "")))
end

---@private
---@param wheel string its name
---@param name string
---@return string
function M._program(wheel, name)
  return vim.fs.joinpath(M._environment(wheel), WINDOWS and "Scripts" or "bin", WINDOWS and name .. ".exe" or name)
end

---@private
---@return string[]
function M._pythons()
  return config.get().python and { config.get().python } or PYTHONS
end

--- The first that is new enough and can make environments.
---@private
---@param names string[]
---@param found fun(python?: string)
function M._find_python(names, found)
  local name = names[1]
  if not name then
    return found(nil)
  end
  M._run({ name, "-I", "-c", NEW_ENOUGH }, function(problem)
    if not problem then
      return found(name)
    end
    M._find_python(vim.list_slice(names, 2), found)
  end)
end

--- `-I`: a `pip` or `venv` that lies in the project is not ours to run.
---@private
---@param python string
---@param path string of the wheel
---@return agent.InstallStep[]
function M._steps(python, path)
  local wheel = vim.fs.basename(path)
  local function pip(...)
    return { M._program(wheel, "python"), "-I", "-m", "pip", "install", "--quiet", "--disable-pip-version-check", ... }
  end
  local lock = vim.fs.joinpath(M._carried(), "requirements.lock")
  return {
    { says = "making an environment", cmd = { python, "-I", "-m", "venv", "--clear", M._environment(wheel) } },
    { says = "installing what the server needs, by hash", cmd = pip("--require-hashes", "--requirement", lock) },
    { says = "installing the server", cmd = pip("--no-deps", "--no-index", path) },
  }
end

--- One step after the other, until one fails.
---@private
---@param steps agent.InstallStep[]
---@param number integer
---@param done fun(problem?: string)
function M._take(steps, number, done)
  local step = steps[number]
  if not step then
    return done(nil)
  end
  log.say("INFO", ("%s (%d of %d)"):format(step.says, number, #steps))
  M._run(step.cmd, function(problem)
    if problem then
      return done(("%s failed: %s"):format(step.says, problem))
    end
    M._take(steps, number + 1, done)
  end)
end

---@private
---@param cmd string[]
---@param done fun(problem?: string)
function M._run(cmd, done)
  local ended = vim.schedule_wrap(function(result)
    done(result.code ~= 0 and ("%s (code %d)"):format(M._reason(result.stderr or ""), result.code) or nil)
  end)
  local ok, problem = pcall(vim.system, cmd, { text = true, timeout = LIMIT_MS }, ended)
  if not ok then
    done(tostring(problem))
  end
end

--- pip marks what went wrong, and may explain below it; others end with it.
---@private
---@param printed string
---@return string
function M._reason(printed)
  local lines = vim.split(vim.trim(printed), "\n")
  local marked = vim.tbl_filter(function(line)
    return vim.startswith(line, "ERROR: ")
  end, lines)
  return marked[#marked] or lines[#lines]
end

---@private
---@param problem? string
function M._end(problem)
  is_running = false
  if problem then
    return log.say("ERROR", ("the server was not installed: %s"):format(problem))
  end
  local client = require("agent.client") -- which needs this module to find its program
  log.say("INFO", ("the server is installed in %s"):format(M.folder()))
  if client.phase() == "ready" and require("agent.server").command()[1] == M.installed() then
    client.restart()
  end
end

return M
