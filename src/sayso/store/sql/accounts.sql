-- Who may come in. What changes an account is written with its event; what only counts, without.

-- name: hold_person
-- Changes nothing, but keeps whoever is being removed at this moment from getting something more.
update people set active = 1 where name = :person and active = 1

-- name: put_token
insert into tokens (id, digest, prefix, kind, name, scopes, team, owner, version, made_at, expires_at)
values (:id, :digest, :prefix, :kind, :name, :scopes, :team, :owner, :version, :made_at, :expires_at)

-- name: revoke_token
update tokens set revoked_at = :at where id = :id and revoked_at is null

-- name: revoke_tokens_of
update tokens set revoked_at = :at
 where revoked_at is null and (owner = :person or (kind = 'person' and name = :person))

-- name: token_columns
id, digest, prefix, kind, name, scopes, team, owner, version, made_at, expires_at, used_at, revoked_at

-- name: token
select {@token_columns} from tokens where digest = :digest

-- name: tokens
select {@token_columns} from tokens order by made_at, id

-- name: token_counts
revoked_at is null and (expires_at is null or expires_at > {now})

-- name: tokens_wanted
-- Of a person and their agents, or of everybody; those that count, or those that ended.
      (cast(:person as text) is null or owner = cast(:person as text)
       or (kind = 'person' and name = cast(:person as text)))
  and (case when {@token_counts} then 0 else 1 end) = :ended

-- name: tokens_page
-- The newest first, behind the one of this moment and id.
select {@token_columns} from tokens
 where {@tokens_wanted} and (made_at, id) < (:made_at, :id)
 order by made_at desc, id desc limit :limit

-- name: tokens_number
select count(*) from tokens where {@tokens_wanted}

-- name: token_by_id
select {@token_columns} from tokens where id = :id

-- name: tokens_of
-- How many count of these people, and when one was used last.
select name, count(*), max(used_at) from tokens
 where kind = 'person' and name {among} and {@token_counts} group by name

-- name: agents_of
select owner, name from tokens
 where kind = 'agent' and owner {among} and {@token_counts} order by owner, made_at, id

-- name: token_used
update tokens set used_at = {now} where id = :id and {unsynced}

-- name: put_session
insert into sessions (id, digest, person, how, address, agent, opened_at, seen_at)
values (:id, :digest, :person, :how, :address, :agent, :opened_at, :seen_at)

-- name: drop_session
delete from sessions where id = :id

-- name: drop_sessions_of
delete from sessions where person = :person and id <> :but

-- name: drop_old_sessions
delete from sessions where opened_at <= :opened or seen_at <= :seen

-- name: session_columns
id, digest, person, how, address, agent, opened_at, seen_at

-- name: session
select {@session_columns} from sessions where digest = :digest

-- name: sessions
select {@session_columns} from sessions
 where cast(:person as text) is null or person = cast(:person as text)
 order by opened_at, id

-- name: session_counts
-- Used of late, not too old, and of somebody who may come in.
      opened_at > {now} - cast(:lasts as bigint) and seen_at > {now} - cast(:idle as bigint)
  and (exists (select 1 from people p where p.name = person and p.active = 1)
       or (person is null and not exists (select 1 from people p where p.active = 1)))

-- name: sessions_page
-- Those used last come first, behind the one of this moment and id.
select {@session_columns} from sessions
 where (cast(:person as text) is null or person = cast(:person as text)) and {@session_counts}
   and (seen_at, id) < (:seen_at, :id)
 order by seen_at desc, id desc limit :limit

-- name: sessions_number
select count(*) from sessions
 where (cast(:person as text) is null or person = cast(:person as text)) and {@session_counts}

-- name: session_by_id
select {@session_columns} from sessions where id = :id

-- name: sessions_of
-- How many these people have, and when one was used last.
select person, count(*), max(seen_at) from sessions
 where person {among} and {@session_counts} group by person

-- name: session_seen
update sessions set seen_at = {now} where id = :id and {unsynced}

-- name: put_password
insert into passwords (name, hash) values (:person, :hash)
on conflict (name) do update set hash = excluded.hash

-- name: drop_password
delete from passwords where name = :person

-- name: with_password
select name from passwords

-- name: passwords
select name, hash from passwords order by name

-- name: passwords_of
select name from passwords where name {among}

-- name: password
select hash from passwords where name = :person

-- name: rehash
-- Not if it was changed meanwhile.
update passwords set hash = :hash where name = :person and hash = :before

-- name: count_try
-- Counted before the password is looked at: whoever tries many at once gets no more of them.
insert into tries (who, count, since)
select :who, 1, {now} where {unsynced}
on conflict (who) do update
   set count = case when tries.since <= excluded.since - cast(:span as bigint) then 1 else tries.count + 1 end,
       since = case when tries.since <= excluded.since - cast(:span as bigint) then excluded.since else tries.since end
returning count, since + cast(:span as bigint) - {now}

-- name: forget_tries
delete from tries where who = :who and {unsynced}

-- name: forget_old_tries
delete from tries where since <= {now} - cast(:span as bigint) and {unsynced}

-- name: put_link
-- May come twice, if the connection broke.
insert into links (digest, expires_at) values (:digest, :expires_at)
on conflict (digest) do nothing

-- name: links
select digest, expires_at from links

-- name: take_link
-- Of any number who use it at once one finds it.
delete from links where digest = :digest and expires_at > {now} returning 1

-- name: has_link
select 1 from links where digest = :digest and expires_at > {now}

-- name: drop_old_links
delete from links where expires_at <= {now}

-- name: put_identity
insert into identities (issuer, subject, person) values (:issuer, :subject, :person)

-- name: drop_identity
delete from identities where issuer = :issuer and subject = :subject

-- name: drop_identities_of
delete from identities where person = :person

-- name: identity
select person from identities where issuer = :issuer and subject = :subject

-- name: linked_of
select distinct person from identities where person {among}

-- name: identities
select issuer, subject, person from identities order by person, issuer, subject
