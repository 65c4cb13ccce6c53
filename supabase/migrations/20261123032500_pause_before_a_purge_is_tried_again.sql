set role watchpost_owner;

update pgboss.queue set retry_delay = 10 where name = 'purge';

reset role;
