import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useLocation } from 'wouter'
import { api, ok } from '../../api/client.ts'
import { useToastError } from '../../shared/errors.tsx'
import { Button } from '../../ui/button.tsx'
import { useText } from '../../ui/language.ts'
import { toast } from '../../ui/toast.tsx'
import { zonesText } from './zones.text.ts'

const EXAMPLES = {
  marmara: { lat: 40.7, lon: 28.6, radius_km: 150, types: ['earthquake'], min_severity: 20 },
  california: { lat: 36.2, lon: -120, radius_km: 500, types: ['earthquake'], min_severity: 20 },
  gulf: { lat: 25, lon: -90, radius_km: 900, types: ['storm'], min_severity: 40 },
} as const

/** Zones to begin with: one press makes one, which can then be tried and changed. */
export function Examples() {
  const text = useText(zonesText)
  const queryClient = useQueryClient()
  const [, navigate] = useLocation()
  const make = useMutation({
    mutationFn: (name: keyof typeof EXAMPLES) => {
      const { types, ...rest } = EXAMPLES[name]
      const body = { label: text.example_names[name], ...rest, types: [...types] }
      return ok(api.POST('/api/v1/zones', { body }))
    },
    onSuccess: async (made) => {
      if (typeof made === 'string') return
      await queryClient.invalidateQueries({ queryKey: ['zones'] })
      toast(text.created(made.zone.label))
      navigate(`/zones/${made.zone.id}`)
    },
    onError: useToastError(),
  })
  return (
    <div className="flex flex-col items-stretch gap-2">
      <p className="text-sm text-muted">{text.examples}</p>
      {(['marmara', 'california', 'gulf'] as const).map((name) => (
        <Button
          key={name}
          disabled={make.isPending}
          isPending={make.isPending && make.variables === name}
          onClick={() => make.mutate(name)}
        >
          {text.example_names[name]}
        </Button>
      ))}
    </div>
  )
}
