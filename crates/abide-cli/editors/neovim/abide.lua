-- Starts `abide lsp` for .proto files. Copy this file to ~/.config/nvim/plugin/.
local started = {}

-- The folder of the nearest file or folder with this name, upward.
local function nearest(name, folder)
  local found = vim.fn.findfile(name, folder .. ";")
  if found == "" then
    found = vim.fn.finddir(name, folder .. ";")
  end
  return found ~= "" and vim.fn.fnamemodify(found:gsub("/$", ""), ":p:h") or nil
end

vim.api.nvim_create_autocmd("FileType", {
  pattern = "proto",
  callback = function(event)
    local folder = vim.fn.fnamemodify(vim.api.nvim_buf_get_name(event.buf), ":p:h")
    local git = nearest(".git", folder)
    local root = nearest("abide.toml", folder)
      or (git and vim.fn.fnamemodify(git, ":h"))
      or folder
    if not started[root] then
      started[root] = vim.lsp.start_client({
        name = "abide",
        cmd = { "abide", "lsp" },
        root_dir = root,
        workspace_folders = { { uri = vim.uri_from_fname(root), name = root } },
      })
    end
    vim.lsp.buf_attach_client(event.buf, started[root])
  end,
})
