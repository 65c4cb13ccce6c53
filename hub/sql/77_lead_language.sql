-- The language in which a lead is written to, where the country does not say it.

alter table hub.leads add column language text check (language ~ '^[a-z]{2}$');
comment on column hub.leads.language is 'ISO 639-1; empty: the language of the country.';
