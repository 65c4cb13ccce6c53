import { decimal, texts } from '../i18n/words.ts'

/** What each model preset is good for, and which one suits this machine. */
export const catalogText = texts(
  {
    about: {
      large: 'The largest of the three. 4.7 GB to download, about 6 GB of memory.',
      medium:
        'About half the size, so it answers sooner. 2.5 GB to download, about 3.5 GB of memory.',
      small: 'For small machines. 1.8 GB to download, about 2.5 GB of memory.',
    },
    enough: (gib: number, name: string) =>
      `This machine has ${decimal('en', gib)} GB of memory: enough for ${name}.`,
    fits: (gib: number, name: string, larger: string, needed: number) =>
      `This machine has ${decimal('en', gib)} GB of memory: ${name} fits; ${larger} needs a machine with ${needed} GB or more.`,
    none: (gib: number) =>
      `This machine has ${decimal('en', gib)} GB of memory, too little to run a model here (3.5 GB are needed). Everything else works. Connect an OpenAI-compatible endpoint in Settings > Models.`,
  },
  {
    about: {
      large: 'Üçünün en büyüğü. 4,7 GB indirme, yaklaşık 6 GB bellek.',
      medium:
        'Yaklaşık yarısı kadar, bu yüzden daha çabuk yanıtlar. 2,5 GB indirme, yaklaşık 3,5 GB bellek.',
      small: 'Küçük makineler için. 1,8 GB indirme, yaklaşık 2,5 GB bellek.',
    },
    enough: (gib, name) => `Bu makinede ${decimal('tr', gib)} GB bellek var: ${name} için yeterli.`,
    fits: (gib, name, larger, needed) =>
      `Bu makinede ${decimal('tr', gib)} GB bellek var: ${name} sığar; ${larger} en az ${needed} GB bellekli bir makine ister.`,
    none: (gib) =>
      `Bu makinede ${decimal('tr', gib)} GB bellek var; burada model çalıştırmak için az (3,5 GB gerekir). Diğer her şey çalışır. Ayarlar > Modeller bölümünde OpenAI uyumlu bir uç nokta bağlayın.`,
  },
)
