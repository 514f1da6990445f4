-- How the keys of agents stand: a row for each, written with the event that changed it.

-- name: put_trust
insert into trust (id, team, agent, version, tool, bucket, tier, standing, score, ends, strikes, grants,
                   fine, audits, harms, incidents, marks, grant_ask, flag_ask, changed_at, seq)
values (:id, :team, :agent, :version, :tool, :bucket, :tier, :standing, :score, :ends, :strikes, :grants,
        :fine, :audits, :harms, :incidents, :marks, :grant_ask, :flag_ask, :changed_at, :seq)
on conflict (id) do update set
    standing = excluded.standing, score = excluded.score, ends = excluded.ends,
    strikes = excluded.strikes, grants = excluded.grants, fine = excluded.fine,
    audits = excluded.audits, harms = excluded.harms, incidents = excluded.incidents,
    marks = excluded.marks, grant_ask = excluded.grant_ask, flag_ask = excluded.flag_ask,
    changed_at = excluded.changed_at, seq = excluded.seq

-- name: trust_columns
id, team, agent, version, tool, bucket, tier, standing, score, ends, strikes, grants,
fine, audits, harms, incidents, marks, grant_ask, flag_ask, changed_at, seq

-- name: trusted
-- Those that want somebody first, then those that run alone, the last to change before the others.
select {@trust_columns} from trust
 where (cast(:standing as text) is null or standing = cast(:standing as text))
   and (cast(:agent as text) is null or agent = cast(:agent as text))
   and (cast(:tool as text) is null or tool = cast(:tool as text))
   and {seen}
 order by case standing when 'proposed' then 0 when 'suspended' then 1 when 'locked' then 2
                        when 'granted' then 3 else 4 end,
          changed_at desc, id
 limit :limit

-- name: trust_counts
select standing, count(*) from trust where {seen} group by standing

-- name: trust_stands
-- A row for each way to stand, not for each key.
select part, standing, tier, strikes, count(*)
  from (select case cast(:by as text) when 'agent' then agent when 'tool' then tool when 'tier' then tier else '' end as part,
               standing, tier, strikes
          from trust
         where (cast(:agent as text) is null or agent = cast(:agent as text))
           and (cast(:tool as text) is null or tool = cast(:tool as text))
           and (cast(:tier as text) is null or tier = cast(:tier as text))
           and {seen}) stood
 group by part, standing, tier, strikes

-- name: trust_of
select {@trust_columns} from trust where id = :id

-- name: trust_kin
-- All versions and buckets of a tool in the hands of one agent.
select {@trust_columns} from trust where team = :team and agent = :agent and tool = :tool

-- name: drop_trust
delete from trust

-- name: trust_streams
-- The books that the journal has, whatever the list says.
select stream from events where stream > :after and stream < 'k.' and stream >= 'k-' and seq = 1
 order by stream limit :limit
