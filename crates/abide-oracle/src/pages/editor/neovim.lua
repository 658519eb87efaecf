-- Runs in Neovim with a proto open: writes what it shows, and the hover of a place.
local shown = function()
  return #vim.diagnostic.get(0) > 0
end
vim.wait(60000, shown, 50)
for _, it in ipairs(vim.diagnostic.get(0)) do
  io.write(string.format("%d:%d %s\n", it.lnum + 1, it.col + 1, it.code))
end
local place = { textDocument = vim.lsp.util.make_text_document_params(), position = { line = 5, character = 16 } }
local answers = vim.lsp.buf_request_sync(0, "textDocument/hover", place, 60000)
for _, answer in pairs(answers or {}) do
  local found = answer.result and answer.result.contents.value or vim.inspect(answer)
  io.write("hover " .. found:gsub("\n", " ") .. "\n")
end
