-- Requests of wrk for the benchmark over PostgreSQL. KIND: put, get, batch, or spread and spread-batch, which write one record or one
-- batch into each namespace from FIRST on; NAMESPACES: over how many; RUN names the clients of batches, which are new in each run.
local kind, namespaces, first = os.getenv("KIND"), tonumber(os.getenv("NAMESPACES")), tonumber(os.getenv("FIRST"))
local run, count = os.getenv("RUN"), 0
local json, value = {["Content-Type"] = "application/json"}, '"' .. string.rep("x", 98) .. '"'
math.randomseed(1)

function request()
  count = count + 1
  local space, id = "/v1/bench" .. count % namespaces, math.random(0, 999)
  if kind:find("^spread") then space = "/v1/many" .. (first + count) % namespaces end
  if kind == "spread" then return wrk.format("PUT", space .. "/records/load/1", json, value) end
  if kind == "get" then return wrk.format("GET", space .. "/records/load/" .. id) end
  if kind == "put" then return wrk.format("PUT", space .. "/records/load/" .. id, json, value) end
  -- Each request is the first batch of a client, since wrk does not say which connection it is for.
  local writes = {}
  for number = 1, 16 do
    writes[number] = '{"number":' .. number .. ',"op":"put","key":"load/' .. math.random(0, 999) .. '","value":' .. value .. '}'
  end
  return wrk.format(
    "POST", space .. "/writes", json, '{"client":"' .. run .. "-" .. count .. '","writes":[' .. table.concat(writes, ",") .. "]}")
end
