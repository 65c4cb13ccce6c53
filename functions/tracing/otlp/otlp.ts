import { randomUUID } from 'node:crypto'
import {
  type Context,
  DiagLogLevel,
  diag,
  type Link,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  trace,
} from '@opentelemetry/api'
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks'
import { parseTraceParent, setGlobalErrorHandler } from '@opentelemetry/core'
import { OTLPTraceExporter as JsonExporter } from '@opentelemetry/exporter-trace-otlp-http'
import { OTLPTraceExporter as ProtobufExporter } from '@opentelemetry/exporter-trace-otlp-proto'
import {
  detectResources,
  resourceAttributesEnvDetector,
  resourceFromAttributes,
} from '@opentelemetry/resources'
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  BatchSpanProcessor,
  ParentBasedSampler,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from '@opentelemetry/sdk-trace'
import { VERSION } from '../../../shared/version.ts'
import type { TracingSettings } from '../settings.ts'
import { errorType, type Origin, type SpanOptions, type Tracing } from '../tracing.ts'

const KINDS = {
  internal: SpanKind.INTERNAL,
  server: SpanKind.SERVER,
  client: SpanKind.CLIENT,
  producer: SpanKind.PRODUCER,
  consumer: SpanKind.CONSUMER,
} satisfies Record<NonNullable<SpanOptions['kind']>, SpanKind>

/**
 * Traces by OpenTelemetry and sends the spans by OTLP over HTTP. Nothing global is registered but who is told that spans
 * were not sent, for which the packages have no other way.
 */
export function startTracing(
  settings: TracingSettings,
  on_problem: (message: string) => void,
): Tracing {
  const { url, protocol } = settings
  const tell = (message: string) => on_problem(message)
  const quiet = () => undefined
  setGlobalErrorHandler((error) => on_problem(String(error)))
  diag.setLogger(
    { error: tell, warn: tell, info: quiet, debug: quiet, verbose: quiet },
    { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true },
  )
  const exporter =
    protocol === 'http/json' ? new JsonExporter({ url }) : new ProtobufExporter({ url })
  const provider = new TracerProvider({
    resource: resourceOf(settings),
    sampler: samplerOf(settings),
    spanProcessors: [new BatchSpanProcessor({ exporter })],
  })
  const tracer = provider.getTracer('watchpost', VERSION)
  const contexts = new AsyncLocalStorageContextManager().enable()

  return {
    is_on: true,
    span: async ({ name, kind = 'internal', attributes = {}, ...origin }, work) => {
      const from = contextOf(origin, contexts.active())
      const options = { kind: KINDS[kind], attributes, links: linksOf(origin) }
      const span = tracer.startSpan(name, options, from)
      const fail = (type: string) => {
        span.setAttribute('error.type', type)
        span.setStatus({ code: SpanStatusCode.ERROR })
      }
      const told = {
        set: (more: typeof attributes) => void span.setAttributes(more),
        rename: (better: string) => void span.updateName(better),
        fail,
      }
      try {
        return await contexts.with(trace.setSpan(from, span), () => work(told))
      } catch (error) {
        fail(errorType(error))
        throw error
      } finally {
        span.end()
      }
    },
    traceparent: () => {
      const active = trace.getSpanContext(contexts.active())
      if (!active) return undefined
      const flags = active.traceFlags.toString(16).padStart(2, '0')
      return `00-${active.traceId}-${active.spanId}-${flags}`
    },
    stop: () => provider.shutdown(),
  }
}

function contextOf({ parent }: Origin, active: Context): Context {
  if (parent === undefined) return active
  const remote = parent === null ? null : parseTraceParent(parent)
  return remote ? trace.setSpanContext(ROOT_CONTEXT, { ...remote, isRemote: true }) : ROOT_CONTEXT
}

function linksOf({ links = [] }: Origin): Link[] {
  return links.flatMap((link) => {
    const context = parseTraceParent(link)
    return context ? [{ context: { ...context, isRemote: true } }] : []
  })
}

/** What the variables of OpenTelemetry say goes before what we say of ourselves. */
function resourceOf({ service_name }: TracingSettings) {
  const own = resourceFromAttributes({
    'service.name': 'watchpost',
    'service.version': VERSION,
    'service.instance.id': randomUUID(),
  })
  const given = own.merge(detectResources({ detectors: [resourceAttributesEnvDetector] }))
  return service_name === undefined
    ? given
    : given.merge(resourceFromAttributes({ 'service.name': service_name }))
}

function samplerOf({ sampler, ratio }: TracingSettings) {
  const [, is_by_parent, word] = /^(parentbased_)?(.*)$/.exec(sampler) ?? []
  const root =
    word === 'traceidratio'
      ? new TraceIdRatioBasedSampler(ratio)
      : word === 'always_off'
        ? new AlwaysOffSampler()
        : new AlwaysOnSampler()
  return is_by_parent ? new ParentBasedSampler({ root }) : root
}
