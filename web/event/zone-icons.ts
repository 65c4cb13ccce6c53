import {
  Anchor,
  Building,
  Church,
  Droplets,
  Factory,
  Fuel,
  Hospital,
  Hotel,
  House,
  Landmark,
  type LucideIcon,
  MapPin,
  Mountain,
  Plane,
  RadioTower,
  School,
  Ship,
  Sprout,
  Star,
  Store,
  Tent,
  TrainFront,
  Trees,
  Truck,
  Users,
  Warehouse,
  Zap,
} from 'lucide-react'

/** The icons that the form of a zone offers, by the names that Lucide gives them and the API keeps. */
export const ZONE_ICONS = {
  'map-pin': MapPin,
  star: Star,
  house: House,
  building: Building,
  factory: Factory,
  warehouse: Warehouse,
  store: Store,
  hotel: Hotel,
  hospital: Hospital,
  school: School,
  landmark: Landmark,
  church: Church,
  users: Users,
  tent: Tent,
  anchor: Anchor,
  ship: Ship,
  plane: Plane,
  truck: Truck,
  'train-front': TrainFront,
  fuel: Fuel,
  zap: Zap,
  'radio-tower': RadioTower,
  droplets: Droplets,
  sprout: Sprout,
  trees: Trees,
  mountain: Mountain,
} as const satisfies Record<string, LucideIcon>

export type ZoneIconName = keyof typeof ZONE_ICONS

export const isZoneIcon = (name: string): name is ZoneIconName => Object.hasOwn(ZONE_ICONS, name)

/** The icon of a name; a pin where another program gave the zone a name that is not offered here. */
export const zoneIcon = (name: string): LucideIcon => (isZoneIcon(name) ? ZONE_ICONS[name] : MapPin)
