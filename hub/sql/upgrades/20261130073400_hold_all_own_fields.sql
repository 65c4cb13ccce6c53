-- Every field of a project's own may be as long as it may be: 40 of 1,000 characters, some of which take six bytes.
alter table hub.leads drop constraint leads_custom_check;
alter table hub.leads add constraint leads_custom_check
  check (jsonb_typeof(custom) = 'object' and octet_length(custom::text) <= 300000);
