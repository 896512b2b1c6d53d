// The playback clock. A position is a frame number with a fraction; numbers always belong to its whole part.

const FULL_RUN_SECONDS = 8;
const SLOWEST_RATE = 6;
export const SPEEDS = [0.25, 0.5, 1, 2, 4];

/** Frames per second: at speed 1 a long run takes about eight seconds, a short one shows six frames a second. */
export function playRate(frames, speed) {
  return speed * Math.max(SLOWEST_RATE, (frames - 1) / FULL_RUN_SECONDS);
}

/** The position after some seconds; it stops on the last frame. */
export function advance(position, seconds, rate, last) {
  const next = position + seconds * rate;
  return next >= last ? { position: last, finished: true } : { position: next, finished: false };
}
