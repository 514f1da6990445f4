-- A team is a wall: whoever is not in it sees nothing of it. What belongs to no team has ''.
alter table asks add column team text not null default '';
alter table runs add column team text not null default '';
alter table people add column teams text not null default '[]'; -- ["billing"]

-- The inbox of a team costs what is open there; what belongs to no team costs an ask no entry more.
drop index asks_open;
create index asks_open on asks (rank, latest, opened_at, id, team) where status = 'open';
create index asks_open_of_team on asks (team, rank, latest, opened_at, id)
    where status = 'open' and team <> '';

-- Runs of other teams are passed by without a look at their rows.
drop index runs_by_status;
drop index runs_by_start;
create index runs_by_status on runs (status, started_at, id, team);
create index runs_by_start on runs (started_at, id, team);

-- One run of a thread at a time, in each team.
drop index runs_one_of_thread;
create unique index runs_one_of_thread on runs (thread, team)
    where thread is not null and status in ('ready', 'running', 'waiting', 'parked');
