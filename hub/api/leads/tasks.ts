import { z } from 'zod'
import { createRoute, jsonBody, jsonResponse, resource } from '../../../shared/route.ts'
import {
  booleanParameter,
  CursorQuery,
  decodeCursor,
  encodeCursor,
  integerParameter,
  NextCursor,
  splitPage,
} from '../../../shared/schemas/page.ts'
import { raw, type Sql } from '../../../shared/sql.ts'
import { Day } from '../../../shared/time.ts'
import { everywhere, inProject, type Project } from '../../db/db.ts'
import { answer, type Env, problems, write } from '../../http/http.ts'
import { NEWEST, Position, positionOf } from '../../http/page.ts'
import { absent } from '../../i18n/failure.ts'
import { Note, Task } from '../../leads/lead.ts'
import { recordActivity } from '../../leads/timeline.ts'
import { readLicense, requireWritable } from '../../license/license.ts'
import { withOwner } from '../projects/owner.ts'
import { Slug } from '../projects/projects.ts'
import { addressOf } from './lead.ts'

const OneNote = z.object({ note: Note.extend({ lead_id: z.uuid() }) })
const OneTask = z.object({ task: Task })
const Tasks = z.object({ tasks: z.array(Task), next_cursor: NextCursor })

const noteText = z
  .string()
  .overwrite((text) => text.replaceAll('\0', '').trim())
  .min(1)
  .max(10_000)
const taskTitle = z
  .string()
  .overwrite((text) => text.replaceAll('\0', '').replace(/\s+/g, ' ').trim())
  .min(1)
  .max(500)

const taskColumns = raw(`
  task.id, project.slug as project, task.lead_id, task.title, task.due_on, task.done_at,
  task.created_at`)

/** Notes about leads, and tasks. */
export const tasks = resource<Env>()

tasks.openapi(
  createRoute({
    method: 'post',
    path: '/note',
    operationId: 'addNote',
    tags: ['Leads'],
    summary: 'Add a note to a lead',
    middleware: write,
    request: { body: jsonBody(z.strictObject({ lead_id: z.uuid(), text: noteText })) },
    responses: { 201: jsonResponse(OneNote, 'Added.'), ...problems(402, 404, 422) },
  }),
  async (c) => {
    const { lead_id, text } = c.req.valid('json')
    const note = await withOwner(c, { table: 'leads', id: lead_id }, async (sql, project) => {
      const [note] = await sql<z.infer<typeof OneNote>['note']>`
        insert into hub.notes (project_id, lead_id, text)
        values (${project.id}, ${lead_id}, ${text})
        returning id, lead_id, text, created_at`
      const details = { note_id: note?.id, text: text.slice(0, 300) }
      await recordActivity(sql, { project_id: project.id, lead_id, kind: 'note', details })
      return note
    })
    if (!note) throw absent('lead')
    return answer(c, OneNote, { note }, 201, { Location: addressOf(lead_id) })
  },
)

tasks.openapi(
  createRoute({
    method: 'post',
    path: '/note/delete',
    operationId: 'deleteNote',
    tags: ['Leads'],
    summary: 'Delete a note',
    description: 'Also from the timeline.',
    middleware: write,
    request: { body: jsonBody(z.strictObject({ note_id: z.uuid() })) },
    responses: { 200: jsonResponse(OneNote, 'Deleted; as it was.'), ...problems(402, 404, 422) },
  }),
  async (c) => {
    const { note_id } = c.req.valid('json')
    const note = await withOwner(c, { table: 'notes', id: note_id }, async (sql) => {
      const [note] = await sql<z.infer<typeof OneNote>['note']>`
        delete from hub.notes where id = ${note_id} returning id, lead_id, text, created_at`
      if (!note) throw absent('note')
      await sql`
        delete from hub.activities
        where lead_id = ${note.lead_id} and details ->> 'note_id' = ${note_id}`
      return note
    })
    return answer(c, OneNote, { note }, 200)
  },
)

tasks.openapi(
  createRoute({
    method: 'get',
    path: '/tasks',
    operationId: 'listTasks',
    tags: ['Leads'],
    summary: 'List tasks, newest first',
    request: {
      query: z.strictObject({
        project: Slug.optional().meta({ description: 'Only of this project; absent: of all.' }),
        lead_id: z.guid().optional(),
        done: booleanParameter('Only done or only open ones; absent: both.'),
        limit: integerParameter(1, 500, 100, 'Tasks a page.'),
        cursor: CursorQuery,
      }),
    },
    responses: { 200: jsonResponse(Tasks, 'A page.'), ...problems(404) },
  }),
  async (c) => {
    const { limit, cursor, ...filter } = c.req.valid('query')
    const { project: slug, lead_id = null, done = null } = filter
    const [at, id] = (await decodeCursor(filter, cursor, Position)) ?? NEWEST
    const { db } = c.get('deps')
    const list = (sql: Sql, project_id: string | null) => sql<
      z.infer<typeof Task> & { position: string }
    >`
      select ${taskColumns}, ${positionOf('task.created_at')} as position
      from hub.tasks as task
      join hub.projects as project on project.id = task.project_id
      where (${project_id}::uuid is null or task.project_id = ${project_id})
        and (${lead_id}::uuid is null or task.lead_id = ${lead_id})
        and (${done}::boolean is null or (task.done_at is not null) = ${done})
        and (task.created_at, task.id) < (${at}::timestamptz, ${id}::uuid)
      order by task.created_at desc, task.id desc
      limit ${limit + 1}`
    const rows = slug
      ? await inProject(db, slug, (sql, project) => list(sql, project.id))
      : await everywhere(db, (sql) => list(sql, null))
    const { page, last } = splitPage(rows, limit)
    const next_cursor = last ? await encodeCursor(filter, [last.position, last.id]) : null
    return answer(c, Tasks, { tasks: page, next_cursor }, 200)
  },
)

tasks.openapi(
  createRoute({
    method: 'post',
    path: '/task',
    operationId: 'addTask',
    tags: ['Leads'],
    summary: 'Add a task',
    description: 'Give `lead_id` for a lead, or `slug` for the project as a whole.',
    middleware: write,
    request: {
      body: jsonBody(
        z
          .strictObject({
            lead_id: z.uuid().optional(),
            slug: Slug.optional(),
            title: taskTitle,
            due_on: Day.nullable().optional(),
          })
          .refine(({ lead_id, slug }) => (lead_id === undefined) !== (slug === undefined), {
            error: 'Give either lead_id or slug.',
            path: ['lead_id'],
          }),
      ),
    },
    responses: { 201: jsonResponse(OneTask, 'Added.'), ...problems(402, 404, 422) },
  }),
  async (c) => {
    const { lead_id = null, slug, title, due_on = null } = c.req.valid('json')
    const { db, config } = c.get('deps')
    const add = async (sql: Sql, project: Project) => {
      const [row] = await sql<{ id: string }>`
        insert into hub.tasks (project_id, lead_id, title, due_on)
        values (${project.id}, ${lead_id}, ${title}, ${due_on}::date)
        returning id`
      const id = row?.id ?? ''
      if (lead_id) {
        const details = { task_id: id, title, due_on }
        await recordActivity(sql, { project_id: project.id, lead_id, kind: 'task', details })
      }
      return requireTask(sql, id)
    }
    const license = await readLicense(config)
    const task = lead_id
      ? await withOwner(c, { table: 'leads', id: lead_id }, add)
      : await inProject(db, slug ?? '', async (sql, project) => {
          await requireWritable(sql, project, license)
          return add(sql, project)
        })
    const Location = `/api/cockpit/lead/tasks?project=${task.project}`
    return answer(c, OneTask, { task }, 201, { Location })
  },
)

tasks.openapi(
  createRoute({
    method: 'post',
    path: '/task/update',
    operationId: 'updateTask',
    tags: ['Leads'],
    summary: 'Change a task or mark it as done',
    middleware: write,
    request: {
      body: jsonBody(
        z.strictObject({
          task_id: z.uuid(),
          title: taskTitle.optional(),
          due_on: Day.nullable().optional(),
          done: z.boolean().optional(),
        }),
      ),
    },
    responses: { 200: jsonResponse(OneTask, 'Changed.'), ...problems(402, 404, 422) },
  }),
  async (c) => {
    const { task_id, done, ...change } = c.req.valid('json')
    const task = await withOwner(
      c,
      { table: 'tasks', id: task_id },
      async (sql, { id: project_id }) => {
        // Whoever changes the rest of it at the same time loses nothing.
        await sql`select from hub.tasks where id = ${task_id} for update`
        const before = await requireTask(sql, task_id)
        const { title, due_on, lead_id } = { ...before, ...change }
        const isDone = done ?? before.done_at !== null
        await sql`
        update hub.tasks
        set title = ${title}, due_on = ${due_on}::date,
          done_at = case when ${isDone} then coalesce(done_at, now()) end
        where id = ${task_id}`
        if (lead_id && isDone && before.done_at === null) {
          const details = { task_id, title }
          await recordActivity(sql, { project_id, lead_id, kind: 'task_done', details })
        }
        return requireTask(sql, task_id)
      },
    )
    return answer(c, OneTask, { task }, 200)
  },
)

tasks.openapi(
  createRoute({
    method: 'post',
    path: '/task/delete',
    operationId: 'deleteTask',
    tags: ['Leads'],
    summary: 'Delete a task',
    description: 'Also from the timeline.',
    middleware: write,
    request: { body: jsonBody(z.strictObject({ task_id: z.uuid() })) },
    responses: { 200: jsonResponse(OneTask, 'Deleted; as it was.'), ...problems(402, 404, 422) },
  }),
  async (c) => {
    const { task_id } = c.req.valid('json')
    const task = await withOwner(c, { table: 'tasks', id: task_id }, async (sql) => {
      const task = await requireTask(sql, task_id)
      await sql`delete from hub.tasks where id = ${task_id}`
      await sql`
        delete from hub.activities
        where lead_id = ${task.lead_id} and details ->> 'task_id' = ${task_id}`
      return task
    })
    return answer(c, OneTask, { task }, 200)
  },
)

async function requireTask(sql: Sql, id: string): Promise<z.infer<typeof Task>> {
  const [task] = await sql<z.infer<typeof Task>>`
    select ${taskColumns}
    from hub.tasks as task
    join hub.projects as project on project.id = task.project_id
    where task.id = ${id}`
  if (!task) throw absent('task')
  return task
}
