import { texts } from '../i18n/words.ts'

/** Why a file or an archive is not taken into a project's code. */
export const codeText = texts(
  {
    damaged: 'The archive is damaged. Make it again, and upload it again.',
    too_many_entries: (count: number, most: number) =>
      `The archive has ${count} entries; at most ${most} are unpacked. Leave out what a tool makes, e.g. node_modules, or upload it in parts.`,
    too_large_unpacked: (size: number, most: number) =>
      `Unpacked, the archive has ${size} MB; at most ${most} MB are taken. Upload it in parts.`,
    link: 'It is a link. Only files are unpacked.',
    special: 'It is neither a file nor a folder.',
    encrypted: 'It is encrypted. Make the archive without a password.',
    method: 'It is packed in a way that is not read here. Use an ordinary ZIP archive.',
    ratio: (most: number) =>
      `It would become more than ${most} times as large. Upload the file itself.`,
    entry_damaged: 'It is damaged: its content is not what the archive says.',
    too_large: (size: number, most: number) =>
      `It has ${size} MB; a file has at most ${most} MB here.`,
    no_path:
      'Its path leads outside, is hidden, is too deep or has characters that are not allowed. Rename it.',
    no_text:
      'The file is not UTF-8 text, and code must be. Archives other than ZIP are not unpacked.',
    nested: 'It is an archive inside an archive. Upload it by itself.',
    twice: 'It is in the upload twice; the first one counts.',
    exists: 'A file of this name exists. To replace it, say so.',
    in_the_way: 'A folder or a file of the same name is in the way.',
    full: (most: number) =>
      `The project has ${most} files of code, which is the most. Delete some first.`,
    no_file: 'Choose at least one file.',
    no_folder: (path: string) =>
      `"${path}" is not a valid folder. Use letters, digits, spaces and - _ . ( ) +, at most five folders deep.`,
    type: 'Send the files as multipart/form-data, each in a field named "file".',
  },
  {
    damaged: 'Arşiv bozuk. Yeniden oluşturup tekrar yükleyin.',
    too_many_entries: (count, most) =>
      `Arşivde ${count} öğe var; en çok ${most} öğe açılır. node_modules gibi araçların ürettiklerini çıkarın ya da parça parça yükleyin.`,
    too_large_unpacked: (size, most) =>
      `Arşiv açıldığında ${size} MB; en çok ${most} MB alınır. Parça parça yükleyin.`,
    link: 'Bu bir bağlantı. Yalnızca dosyalar açılır.',
    special: 'Bu ne bir dosya ne de bir klasör.',
    encrypted: 'Şifrelenmiş. Arşivi parolasız oluşturun.',
    method: 'Burada okunamayan bir yöntemle sıkıştırılmış. Olağan bir ZIP arşivi kullanın.',
    ratio: (most) => `Açılınca ${most} kattan fazla büyüyecekti. Dosyanın kendisini yükleyin.`,
    entry_damaged: 'Bozuk: içeriği arşivin söylediği gibi değil.',
    too_large: (size, most) => `Boyutu ${size} MB; burada bir dosya en çok ${most} MB olabilir.`,
    no_path:
      'Yolu dışarı çıkıyor, gizli, çok derin ya da izin verilmeyen karakterler içeriyor. Adını değiştirin.',
    no_text: 'UTF-8 metin değil; kod ise öyledir. ZIP dışındaki arşivler açılmaz.',
    nested: 'Arşiv içinde arşiv. Tek başına yükleyin.',
    twice: 'Yüklemede iki kez var; ilki geçerli.',
    exists: 'Bu adda bir dosya var. Yerine geçmesini istiyorsanız belirtin.',
    in_the_way: 'Aynı adda bir klasör ya da dosya engel oluyor.',
    full: (most) => `Projede en çok ${most} kod dosyası olabilir. Önce bazılarını silin.`,
    no_file: 'En az bir dosya seçin.',
    no_folder: (path) =>
      `“${path}” geçerli bir klasör değil. Harf, rakam, boşluk ve - _ . ( ) + kullanın; en çok beş klasör derinliğinde olsun.`,
    type: 'Dosyaları multipart/form-data olarak, her birini "file" adlı alanda gönderin.',
  },
)
