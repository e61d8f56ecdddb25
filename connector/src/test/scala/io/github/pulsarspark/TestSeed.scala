package io.github.pulsarspark

/** Seed of a test that uses chance. */
private[pulsarspark] object TestSeed {

  /** The seed that the environment names, or another one at each call; prints it. */
  def next(): Long = {
    val result = sys.env.get("PULSAR_SPARK_TEST_SEED").fold(System.nanoTime())(_.toLong)
    println(s"PULSAR_SPARK_TEST_SEED=$result")
    result
  }
}
