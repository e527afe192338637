--- The little that a spec needs: named checks, comparison, and an exit code that counts what failed.
local M = {}

local failures, passed = 0, 0

--- The plugin's folder.
M.plugin = vim.fs.dirname(vim.fs.dirname(assert(vim.uv.fs_realpath(debug.getinfo(1, "S").source:sub(2)))))

--- Run a check; what goes wrong is printed, and the others still run.
---@param name string a sentence about the outcome
---@param check fun()
function M.it(name, check)
  local ok, problem = xpcall(check, debug.traceback)
  passed = passed + 1
  if not ok then
    failures = failures + 1
    io.stdout:write(("not ok: %s\n%s\n"):format(name, problem))
  end
end

---@param expected any
---@param actual any
function M.equal(expected, actual)
  if not vim.deep_equal(expected, actual) then
    error(("expected %s, got %s"):format(vim.inspect(expected), vim.inspect(actual)), 2)
  end
end

---@param path string below the plugin's folder
---@return string
function M.read(path)
  local file = assert(io.open(vim.fs.joinpath(M.plugin, path)))
  local text = file:read("*a")
  file:close()
  return text
end

--- End Neovim, with the number of failures.
function M.done()
  io.stdout:write(("%d checks, %d failures\n"):format(passed, failures))
  os.exit(failures)
end

vim.opt.rtp:prepend(M.plugin)
return M
