-- A lead may have a language; without one its country decides, as before.
alter table hub.leads add column language text check (language ~ '^[a-z]{2}$');
comment on column hub.leads.language is 'ISO 639-1; empty: the language of the country.';
