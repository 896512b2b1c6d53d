// The scene blob: uint32 header length, JSON header, then arrays, each starting at a multiple of 8 bytes.

const ARRAY_TYPES = {
  f8: Float64Array,
  f4: Float32Array,
  u1: Uint8Array,
  u2: Uint16Array,
  u4: Uint32Array,
  i4: Int32Array,
};

/** Read a blob made by Python's `pack` into { meta, arrays: {name: {data, shape}} }. */
export function unpack(bytes) {
  // Typed arrays must be aligned, and the bytes may lie unaligned in a larger message: copy them.
  const buffer = bytes.slice().buffer;
  const headerLength = new DataView(buffer).getUint32(0, true);
  const header = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 4, headerLength)));
  const body = 4 + headerLength;
  const arrays = {};
  for (const [name, [dtype, shape, offset]] of Object.entries(header.arrays)) {
    const ArrayType = ARRAY_TYPES[dtype];
    if (!ArrayType) throw new Error(`array ${name} has the unknown type ${dtype}`);
    const length = shape.reduce((product, size) => product * size, 1);
    arrays[name] = { data: new ArrayType(buffer, body + offset, length), shape };
  }
  return { meta: header.meta, arrays };
}
