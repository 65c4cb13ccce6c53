set role watchpost_owner;
set check_function_bodies = off;

grant execute on function private.is_garbled(watchpost.sources) to service_role;

reset check_function_bodies;
reset role;
