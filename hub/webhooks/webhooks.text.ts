import { texts } from '../i18n/words.ts'

/** Why a webhook or a key is refused. */
export const webhooksText = texts(
  {
    faults: {
      no_url: 'This is not an address. It begins with https://.',
      credentials: 'Put no password into the address. Whoever receives it checks the signature.',
      no_https: 'Use https://. Plain http is only for private addresses, if you allow them here.',
      private:
        'This address is in a private network. Allow private addresses for this webhook if you mean it.',
      forbidden: 'This address is never called: machines keep their own secrets there.',
    },
    absent: 'There is no such webhook. It may have been deleted.',
    no_delivery: 'There is no such delivery. Deliveries are kept for 30 days.',
    no_project: 'There is no such project.',
    no_key: 'There is no such key, or it was revoked.',
    past: 'The end must be in the future.',
    many: (most: number) => `There are ${most} already. Delete one that you no longer need.`,
  },
  {
    faults: {
      no_url: 'Bu bir adres değil. https:// ile başlar.',
      credentials: 'Adrese parola koymayın. Alan taraf imzayı denetler.',
      no_https: 'https:// kullanın. Düz http yalnızca izin verdiğiniz özel adresler içindir.',
      private:
        'Bu adres özel bir ağda. Bilerek istiyorsanız bu webhook için özel adreslere izin verin.',
      forbidden: 'Bu adres asla aranmaz: makineler kendi gizli bilgilerini orada tutar.',
    },
    absent: 'Böyle bir webhook yok. Silinmiş olabilir.',
    no_delivery: 'Böyle bir iletim yok. İletimler 30 gün saklanır.',
    no_project: 'Böyle bir proje yok.',
    no_key: 'Böyle bir anahtar yok ya da iptal edilmiş.',
    past: 'Bitiş gelecekte olmalıdır.',
    many: (most) => `Zaten ${most} tane var. Artık gerekmeyen birini silin.`,
  },
)
