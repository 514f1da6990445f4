-- name: tail
select pos, stream, seq, kind, at, actor, payload, salt, digest, hash
  from events where pos > :pos order by pos limit :limit

-- name: tip
select coalesce(max(pos), 0) from events

-- name: indexed
select id, stream, kind, status, rank, risk, run, thread, key, roles, voters, version,
       opened_at, due_at, next_at, latest, agent, assignee, effect
  from asks where id in (select value from json_each(:ids))

-- name: recent
select stream, seq, kind, at, actor, payload, salt, digest, hash
  from events order by pos desc limit :limit
