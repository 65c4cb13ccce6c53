-- Traces: how what one transaction stores is found again in the trace of the process that stored it.

set role watchpost_owner;

-- What the transaction said of its trace: a W3C traceparent, with "apart" when what is stored gets a trace of its own.
create function private.current_trace() returns text
language sql stable set search_path = '' as $$
  select substring(current_setting('watchpost.trace', true) from '^00-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}(?: apart)?$')
$$;

reset role;
