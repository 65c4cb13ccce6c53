import { afterAll, beforeAll, beforeEach } from 'vitest'
import { z } from 'zod'
import { Alert } from '../../shared/schemas/alert.ts'
import { createDeliveryService, type DeliveryService } from './delivery-service.ts'
import { type Answer, type Person, parsed } from './service.ts'

type Asked = { key: string; headers?: Record<string, string> }
type Story = DeliveryService & {
  /** Asks the API as somebody; `path` is below `/api/v1/`. */
  ask: (who: Asked, method: string, path: string, body?: unknown) => Promise<Answer>
  /** The same for an answer that must have this form. */
  get: <S extends z.ZodType>(who: Asked, path: string, schema: S) => Promise<z.output<S>>
  alertsOf: (person: Person) => Promise<Alert[]>
  /** The newest alert. */
  alertOf: (person: Person) => Promise<Alert>
}
type Options = Parameters<typeof createDeliveryService>[0] & {
  /** Runs once, before the first test. */
  prepare?: (at: Story) => unknown
}

const Alerts = z.object({ alerts: z.array(Alert) })

/** The service of a file of stories: begun before its first test, without the deliveries of the test before. */
export function createStory({ prepare, ...options }: Options = {}): Story {
  const story = {} as Story // safe: filled before the first test
  beforeAll(async () => {
    const service = await createDeliveryService(options)
    const ask: Story['ask'] = ({ key, headers }, method, path, body) =>
      service.service.request(method, `/api/v1/${path}`, { key, headers, body })
    const get: Story['get'] = async (who, path, schema) =>
      parsed(await ask(who, 'GET', path), 200, schema)
    const alertsOf: Story['alertsOf'] = async (person) =>
      (await get(person, 'alerts', Alerts)).alerts
    const alertOf: Story['alertOf'] = async (person) => {
      const [alert] = await alertsOf(person)
      if (!alert) throw new Error('there is no alert')
      return alert
    }
    Object.assign(story, service, { ask, get, alertsOf, alertOf })
    await prepare?.(story)
  })
  beforeEach(() => story.reset())
  afterAll(() => story.close?.())
  return story
}
