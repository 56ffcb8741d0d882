"""Work of many agents: projects, tasks, work products, reports, alerts."""
