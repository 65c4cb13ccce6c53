import { serveJobs } from '../../../functions/supabase.ts'

serveJobs()
