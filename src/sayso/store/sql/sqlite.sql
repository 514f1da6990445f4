-- name: tail
select pos, stream, seq, kind, at, actor, payload, salt, digest, hash
  from events where pos > :pos order by pos limit :limit

-- name: tip
select coalesce(max(pos), 0) from events

-- name: indexed
select id, stream, kind, status, rank, risk, run, thread, key, roles, voters, version,
       opened_at, due_at, next_at, latest, agent, assignee, effect, team
  from asks where id in (select value from json_each(:ids))

-- name: recent
select stream, seq, kind, at, actor, payload, salt, digest, hash
  from events order by pos desc limit :limit

-- name: beginnings
select stream, seq, kind, at, actor, payload, salt, digest, hash
  from events where stream in (select value from json_each(:ids)) and seq <= 2
 order by stream, seq

-- name: inbox_of_teams
-- What belongs to no team, and what is open in each of these: of each as much as could be shown.
{@inbox_wanted},
counted as (
    select count(*) as n from (
        select 1 from (
            select 1 from wanted where team = ''
             order by rank, latest, opened_at, id limit :count_limit + 1
        )
        union all
        select 1 from json_each(:teams) t
          join asks b on b.id in (
            select w.id from wanted w where w.team = t.value and w.team <> ''
             order by w.rank, w.latest, w.opened_at, w.id limit :count_limit + 1
        )
        limit :count_limit + 1
    ) c
),
page as (
    select id, stream, rank, latest, opened_at, holder, lease_until from (
        select * from wanted
         where team = '' and (rank, latest, opened_at, id) > (:rank, :latest, :opened_at, :id)
         order by rank, latest, opened_at, id limit :limit
    )
    union all
    select b.id, b.stream, b.rank, b.latest, b.opened_at, b.holder, b.lease_until
      from json_each(:teams) t
      join asks b on b.id in (
        select w.id from wanted w
         where w.team = t.value and w.team <> ''
           and (w.rank, w.latest, w.opened_at, w.id) > (:rank, :latest, :opened_at, :id)
         order by w.rank, w.latest, w.opened_at, w.id limit :limit
    )
     order by rank, latest, opened_at, id limit :limit
)
{@inbox_shown}
