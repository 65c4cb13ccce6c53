import { z } from 'zod'

const PORT = 'must be a port between 1 and 65535, or "off"'

/** Where the operator page of `npm start` listens. */
export const OPERATOR_VARIABLES = z.object({
  OPERATOR_HOST: z
    .enum(['127.0.0.1', '::1', 'localhost'], {
      error:
        'must be 127.0.0.1, ::1 or localhost, because the operator page is for this machine only. From another one, reach it through ssh -L 8788:127.0.0.1:8788',
    })
    .default('127.0.0.1'),
  OPERATOR_PORT: z
    .union(
      [
        z.enum(['off', '0']).transform(() => 'off' as const),
        z.coerce.number().int().min(1).max(65535),
      ],
      { error: PORT },
    )
    .optional(),
})

/** `is_chosen`: it must be that port. */
export type OperatorSettings = { host: string; port: number; is_chosen: boolean }

/** Where the operator page listens: by default at the port after the service's; undefined where it is off. */
export function operatorOf(
  { OPERATOR_HOST: host, OPERATOR_PORT: chosen }: z.infer<typeof OPERATOR_VARIABLES>,
  { port }: { port: number },
): OperatorSettings | undefined {
  if (chosen === 'off') return undefined
  // After 65535 any free port.
  return { host, port: chosen ?? (port + 1) % 65_536, is_chosen: chosen !== undefined }
}
