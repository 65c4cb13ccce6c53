import { serveApi } from '../../../functions/supabase.ts'

serveApi()
