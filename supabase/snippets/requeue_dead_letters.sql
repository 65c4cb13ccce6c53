-- Requeue dead letters: puts every dead job back into the queue it came from, with all its attempts anew.
-- Look at support.dead_letters first, and mend the reason; the same as `npm run admin -- queue redrive`.
with dead as (
  delete from pgboss.job
  where name = 'dead' and state in ('created', 'retry') and source_name is not null
  returning source_name, data, group_id, singleton_key
),
requeued as (
  select source_name as queue, private.enqueue(
      source_name, gen_random_uuid(), data, p_group => group_id, p_singleton => singleton_key) is not null as done
  from dead
)
select queue, count(*) filter (where done) as requeued
from requeued
group by queue;
