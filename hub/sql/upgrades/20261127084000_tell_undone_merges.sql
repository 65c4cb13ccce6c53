-- That a merge was undone stands on the timelines of both leads.
alter table hub.activities drop constraint activities_kind_check;
alter table hub.activities add constraint activities_kind_check check (kind in (
  'created', 'imported', 'merged', 'edited', 'stage', 'tagged', 'moved', 'copied', 'note', 'task', 'task_done',
  'evidence', 'draft', 'approved', 'sent', 'opened', 'clicked', 'replied', 'bounced', 'unsubscribed', 'away',
  'answered', 'sequence', 'unmerged'
));

-- What a lead and all of its rows look like, for each table: another sum says that something happened since. That
-- somebody looked at a mail changes nothing, nor does a column that an upgrade adds and nobody has filled, nor that
-- another merge was undone.
create or replace function private.lead_sums(p_id uuid) returns jsonb
language sql stable set search_path = '' as $$
  select coalesce(jsonb_object_agg(name, sum), '{}')
  from (
    select name, md5(string_agg(md5(jsonb_strip_nulls(content - 'seen_at')::text), ',' order by key::text collate "C")) as sum
    from private.rows_of_leads(array[p_id])
    where name <> 'activities' or content ->> 'kind' <> 'unmerged'
    group by name
  ) sums
$$;
