-- Requeue dead letters: puts every dead job back into its original queue, with all its attempts. First look at
-- support.dead_letters and fix the reason. The same as `npm run admin -- queue redrive`.
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
