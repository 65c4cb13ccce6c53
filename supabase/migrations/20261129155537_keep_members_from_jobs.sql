set role watchpost_owner;

-- What the jobs ask of members they ask through functions that run as their owner.
drop policy members_jobs on watchpost.members;
revoke select on watchpost.members from watchpost_jobs;

reset role;
