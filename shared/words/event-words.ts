import { texts } from './texts.ts'

/** What the bands of severity and the types of events are called, in messages and in the console. */
export const eventWords = texts(
  {
    bands: {
      minor: 'minor',
      low: 'low',
      moderate: 'moderate',
      severe: 'severe',
      extreme: 'extreme',
    },
    types: {
      earthquake: 'Earthquake',
      vessel: 'Vessel',
      aircraft: 'Aircraft',
      wildfire: 'Wildfire',
      storm: 'Storm',
      flood: 'Flood',
      volcano: 'Volcano',
      tsunami: 'Tsunami',
      drought: 'Drought',
      weather: 'Weather',
      conflict: 'Conflict',
      other: 'Event',
    },
  },
  {
    bands: {
      minor: 'çok düşük',
      low: 'düşük',
      moderate: 'orta',
      severe: 'yüksek',
      extreme: 'çok yüksek',
    },
    types: {
      earthquake: 'Deprem',
      vessel: 'Gemi',
      aircraft: 'Hava aracı',
      wildfire: 'Orman yangını',
      storm: 'Fırtına',
      flood: 'Sel',
      volcano: 'Yanardağ',
      tsunami: 'Tsunami',
      drought: 'Kuraklık',
      weather: 'Hava olayı',
      conflict: 'Çatışma',
      other: 'Olay',
    },
  },
)
