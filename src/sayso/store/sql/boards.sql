-- What pages show of everything at once: each costs what is on the page, however much there is.

-- name: runs_now
-- What is not over: how many of each status, and the newest of them, from one moment.
select 'waiting', (select count(*) from (
        select 1 from runs where status = 'waiting' and {seen} limit :count_limit + 1) c),
       {@run_columns}
  from (select * from runs where status = 'waiting' and {seen}
         order by started_at desc, id desc limit :limit) newest
union all
select 'parked', (select count(*) from (
        select 1 from runs where status = 'parked' and {seen} limit :count_limit + 1) c),
       {@run_columns}
  from (select * from runs where status = 'parked' and {seen}
         order by started_at desc, id desc limit :limit) newest
union all
select 'running', (select count(*) from (
        select 1 from runs where status = 'running' and {seen} limit :count_limit + 1) c),
       {@run_columns}
  from (select * from runs where status = 'running' and {seen}
         order by started_at desc, id desc limit :limit) newest
union all
select 'ready', (select count(*) from (
        select 1 from runs where status = 'ready' and {seen} limit :count_limit + 1) c),
       {@run_columns}
  from (select * from runs where status = 'ready' and {seen}
         order by started_at desc, id desc limit :limit) newest

-- name: failed_since
select id from runs
 where status = 'failed' and changed_at >= :since and {seen}
 order by changed_at desc limit :limit

-- name: open_since
-- Since when each ask waits for people that somebody of these teams sees.
select opened_at from asks
 where status = 'open' and latest > (select {now}) and {seen}
 limit :limit

-- name: run_open
select id from asks where run = :id and status in ('open', 'settling') order by opened_at, id

-- name: endings
-- The last event of each of these runs.
select e.stream, e.seq, e.kind, e.at, e.actor, e.payload, e.salt, e.digest, e.hash
  from runs r join events e on e.stream = r.id and e.seq = r.seq
 where r.id {among}

-- name: passage
select stream, seq, kind, at, actor, payload, salt, digest, hash
  from events where stream = :stream and seq > :after and seq <= :upto order by seq

-- name: run_asks_between
-- Everything that the asks of a run say that were opened in this time.
select e.stream, e.seq, e.kind, e.at, e.actor, e.payload, e.salt, e.digest, e.hash
  from asks a join events e on e.stream = a.id
 where a.run = :id and a.opened_at >= :since and a.opened_at < :until
 order by a.opened_at, a.id, e.seq

-- name: run_steps
-- What the steps of one sort came to, in a part of a run. An object inside that has such a key is
-- found too, and told apart by the reader.
select stream, seq, kind, at, actor, payload, salt, digest, hash
  from events
 where stream = :id and seq > :after and seq <= :upto and kind = 'step.done'
   and payload like '%"verb":"' || cast(:verb as text) || '"%'
 order by seq

-- name: run_plans
-- Everything that the newest plans of a run say.
select e.stream, e.seq, e.kind, e.at, e.actor, e.payload, e.salt, e.digest, e.hash
  from (select id, opened_at from asks where run = :id and kind = 'plan'
         order by opened_at desc, id desc limit :limit) a
  join events e on e.stream = a.id
 order by a.opened_at, a.id, e.seq
