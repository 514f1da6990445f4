-- Lists of runs by their workflow, what failed of late, and how people decided on the calls of a tool,
-- whoever made them: each costs what is shown of it.
create index runs_of_workflow on runs (workflow, started_at, id, team);
create index runs_failed on runs (status, changed_at, team) where status = 'failed';
create index cases_of_tool_in_team on cases (tool, team, at, id);
