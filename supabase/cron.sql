-- Starts the jobs on Supabase: calls the function "jobs" every minute. Run it in the SQL editor; running it again
-- changes nothing. First it needs two secrets in the Vault:
--
--   select vault.create_secret('https://<project ref>.supabase.co/functions/v1/jobs', 'watchpost_jobs_url');
--   select vault.create_secret('<the value of JOBS_SECRET>', 'watchpost_jobs_secret');
--
-- To change one later: select vault.update_secret(id, '<new>') from vault.secrets where name = '…';
-- To read its log, newest calls first:
--
--   select d.start_time, d.status, d.return_message from cron.job_run_details d
--   join cron.job j using (jobid) where j.jobname = 'watchpost-jobs' order by d.start_time desc limit 20;
--   select created, status_code, left(content, 200), error_msg from net._http_response
--   order by created desc limit 20;
--
-- The first query shows whether the call was made, the second the function's answer (kept for six hours).
-- To stop it: select cron.unschedule('watchpost-jobs');

create extension if not exists pg_cron;
create extension if not exists pg_net;

do $$
declare
  v_missing text := (
    select string_agg(needed, ', ')
    from unnest(array['watchpost_jobs_url', 'watchpost_jobs_secret']) as needed
    where not exists (select from vault.decrypted_secrets s where s.name = needed and s.decrypted_secret <> ''));
begin
  if v_missing is not null then
    raise exception 'The Vault holds no secret named %', v_missing
      using hint = 'The first lines of this file say how to put it there. Nothing was scheduled.';
  end if;
end
$$;

-- The secret is read at each call, so it is neither in cron.job nor in this file. Calls may overlap: they share the
-- queues, and each job runs once.
select cron.schedule('watchpost-jobs', '* * * * *', $$
  select net.http_post(
    url := (select decrypted_secret from vault.decrypted_secrets where name = 'watchpost_jobs_url'),
    body := '{}'::jsonb,
    headers := jsonb_build_object(
      'Content-Type', 'application/json',
      'Authorization', 'Bearer ' || (
        select decrypted_secret from vault.decrypted_secrets where name = 'watchpost_jobs_secret')),
    timeout_milliseconds := 55000)
$$);

-- pg_cron stores a row for every call and never deletes any.
select cron.schedule('watchpost-cron-log', '17 3 * * *', $$
  delete from cron.job_run_details where end_time < now() - interval '7 days'
$$);
