// CRC-32 (the one of zlib) over 32-bit words, little endian, four table look-ups a word.
const CRC_TABLES = crcTables();

function crcTables() {
  const tables = [0, 1, 2, 3].map(() => new Uint32Array(256));
  for (let byte = 0; byte < 256; byte++) {
    let value = byte;
    for (let bit = 0; bit < 8; bit++) value = value & 1 ? (value >>> 1) ^ 0xedb88320 : value >>> 1;
    tables[0][byte] = value;
  }
  for (let byte = 0; byte < 256; byte++)
    for (let t = 1; t < 4; t++) tables[t][byte] = (tables[t - 1][byte] >>> 8) ^ tables[0][tables[t - 1][byte] & 255];
  return tables;
}

// `crc` of everything before -> the one with these words behind it; start with 0.
function crc32(words, crc = 0) {
  const [t0, t1, t2, t3] = CRC_TABLES;
  let value = ~crc;
  for (let i = 0; i < words.length; i++) {
    value ^= words[i];
    value = t3[value & 255] ^ t2[(value >>> 8) & 255] ^ t1[(value >>> 16) & 255] ^ t0[value >>> 24];
  }
  return ~value >>> 0;
}
