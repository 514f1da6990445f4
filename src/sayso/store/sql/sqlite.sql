-- name: note
-- Of any number of racers one finds the place (stream, seq) free; the others break its unique index.
insert into events (stream, seq, kind, at, actor, payload, salt, digest, hash)
values (:stream, :seq, :kind, :at, :actor, :payload, :salt, :digest, :hash)

-- name: open
insert into asks (id, stream, kind, status, rank, risk, run, thread, key, roles, voters, version,
                  opened_at, due_at, effect, holder, lease_until)
values (:id, :ask_stream, :ask_kind, :status, :rank, :risk, :run, :thread, :key, :roles, :voters,
        :version, :opened_at, :due_at, :effect, :holder, {now} + :span)

-- name: grow
-- Changes nothing once it is too late: that is decided here, not by whoever looked before.
update asks
   set status = :status, version = :version, voters = :voters, effect = :effect,
       holder = case when :over then null else coalesce(:holder, holder) end,
       lease_until = case when :over then null else coalesce({now} + :span, lease_until) end
 where {guard}

-- name: judge
-- The same for an ask that nobody holds or carries out: fewer indexes to look at.
update asks
   set status = :status, version = :version, voters = :voters
 where {guard}

-- name: tail
select pos, stream, seq, kind, at, actor, payload, salt, digest, hash
  from events where pos > :pos order by pos limit :limit

-- name: tip
select coalesce(max(pos), 0) from events

-- name: indexed
select id, stream, kind, status, rank, risk, run, thread, key, roles, voters, version,
       opened_at, due_at, effect
  from asks where id in (select value from json_each(:ids))

-- name: recent
select stream, seq, kind, at, actor, payload, salt, digest, hash
  from events order by pos desc limit :limit
