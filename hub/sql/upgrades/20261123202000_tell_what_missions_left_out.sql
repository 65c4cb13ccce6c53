-- What a step was given and did not use.
alter table hub.mission_steps add column left_out jsonb not null default '[]';
