import { z } from 'zod'

/** How traces are sent. */
export type TracingSettings = {
  /** Where OTLP is accepted over HTTP. */
  url: string
  protocol: (typeof PROTOCOLS)[number]
  service_name: string | undefined
  sampler: (typeof SAMPLERS)[number]
  /** The share of traces that a sampler by ratio records. */
  ratio: number
}

const PROTOCOLS = ['http/protobuf', 'http/json'] as const
const SAMPLERS = [
  'always_on',
  'always_off',
  'traceidratio',
  'parentbased_always_on',
  'parentbased_always_off',
  'parentbased_traceidratio',
] as const

const Address = z.url({ protocol: /^https?$/, error: 'must be an http or https URL' })
const oneOf = (words: readonly string[]) => `must be one of ${words.join(', ')}`

/** The standard variables of OpenTelemetry that are read here; the packages read some more themselves. */
export const TRACING_VARIABLES = z.object({
  OTEL_EXPORTER_OTLP_ENDPOINT: Address.optional(),
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: Address.optional(),
  OTEL_EXPORTER_OTLP_PROTOCOL: z.enum(PROTOCOLS, oneOf(PROTOCOLS)).default('http/protobuf'),
  OTEL_SERVICE_NAME: z.string().optional(),
  OTEL_TRACES_SAMPLER: z.enum(SAMPLERS, oneOf(SAMPLERS)).default('parentbased_always_on'),
  OTEL_TRACES_SAMPLER_ARG: z.coerce
    .number({ error: 'must be a number from 0 to 1' })
    .min(0)
    .max(1)
    .default(1),
  OTEL_SDK_DISABLED: z.enum(['true', 'false'], oneOf(['true', 'false'])).default('false'),
})

/** Undefined unless an endpoint is set. */
export function tracingOf(data: z.infer<typeof TRACING_VARIABLES>): TracingSettings | undefined {
  const base = data.OTEL_EXPORTER_OTLP_ENDPOINT?.replace(/\/+$/, '')
  const url = data.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT ?? (base && `${base}/v1/traces`)
  if (!url || data.OTEL_SDK_DISABLED === 'true') return undefined
  return {
    url,
    protocol: data.OTEL_EXPORTER_OTLP_PROTOCOL,
    service_name: data.OTEL_SERVICE_NAME,
    sampler: data.OTEL_TRACES_SAMPLER,
    ratio: data.OTEL_TRACES_SAMPLER_ARG,
  }
}
