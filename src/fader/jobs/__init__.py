"""Long work that can be interrupted: jobs, the journal of what is done, and what runs them.

    files     files that appear whole or not at all
    storage   a folder as the journal sees it, and the lock on a work folder
    journal   what a job has done so far, on disk
    job       a job is (key, items, work, join); `run_job` runs one
    growing   output files that grow part by part
    runners   in this process, in several processes; the runner on Ray is `fader.cluster.jobs.scheduler`

Imports `errors` alone.
"""
