import { texts } from '../../../../shared/words/texts.ts'

export const uploadText = texts(
  {
    open: 'Upload code',
    intro:
      'The engineer reads these files and leaves a patch beside them; it changes nothing. ZIP archives are unpacked.',
    limits: (upload: string, file: string, files: string) =>
      `At most ${upload} at once, ${file} a file and ${files} files in the project. Text in UTF-8 only.`,
    archives: (entries: string, unpacked: string) =>
      `A ZIP archive has at most ${entries} entries and ${unpacked} unpacked. Links and hidden files are refused.`,
    files: 'Files or ZIP archives',
    folder: 'Folder below code/',
    replace: 'Replace files that exist',
    send: 'Upload',
    too_large: (size: string, most: string) =>
      `These files have ${size} together; at most ${most} go at once.`,
    saved: (n: number) => (n === 1 ? '1 file is in code/' : `${n} files are in code/`),
    replaced: (n: number) => (n === 1 ? '1 of them was replaced.' : `${n} of them were replaced.`),
    refused: (n: number) => (n === 1 ? '1 file was refused' : `${n} files were refused`),
    more: 'Upload more',
    done: 'Done',
  },
  {
    open: 'Kod yükle',
    intro:
      'Mühendis bu dosyaları okur ve yanlarına bir yama bırakır; hiçbir şeyi değiştirmez. ZIP arşivleri açılır.',
    limits: (upload, file, files) =>
      `Bir seferde en çok ${upload}, dosya başına ${file} ve projede ${files} dosya. Yalnızca UTF-8 metin.`,
    archives: (entries, unpacked) =>
      `Bir ZIP arşivinde en çok ${entries} öğe, açıldığında en çok ${unpacked} olabilir. Bağlantılar ve gizli dosyalar reddedilir.`,
    files: 'Dosyalar ya da ZIP arşivleri',
    folder: 'code/ altındaki klasör',
    replace: 'Var olan dosyaların yerine geçsin',
    send: 'Yükle',
    too_large: (size, most) => `Bu dosyalar toplam ${size}; bir seferde en çok ${most} yüklenir.`,
    saved: (n) => `${n} dosya code/ klasöründe`,
    replaced: (n) => `${n} tanesi eskisinin yerine geçti.`,
    refused: (n) => `${n} dosya reddedildi`,
    more: 'Başka yükle',
    done: 'Tamam',
  },
)
