-- Which journal this is: a desk that goes on from a backup begins a new epoch.

-- name: epoch
select epoch from desk

-- name: restored_at
select max(at) from events where stream = 'desk'

-- name: rebase_webhooks
-- They go on where the backup says that they were.
update webhooks
   set cursor = (select cast(epoch as text) from desk) || ':' || {behind_colon},
       holder = null, lease_until = null

-- name: forget_sessions
delete from sessions

-- name: forget_links
delete from links

-- name: forget_every_worker
delete from workers

-- name: undecided
-- What people may yet let happen.
select id from asks
 where status in ('open', 'settling') and kind in ('action', 'doubt') and id > :after
 order by id limit :limit
