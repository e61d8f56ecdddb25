package io.github.pulsarspark.schema.convert

import io.github.pulsarspark.UnitSuite

class MapBuilderSuite extends UnitSuite {

  /** The keys and values of a map that these keys were put into, each with its place as its value. */
  private def built(keys: Seq[Int], expectedSize: Int = 0): (Seq[Any], Seq[Any]) = {
    val builder = new MapBuilder(expectedSize)
    keys.zipWithIndex.foreach { case (key, i) => builder.put(key, i) }
    val map = builder.result()
    (map.keyArray().array.toSeq, map.valueArray().array.toSeq)
  }

  for (size <- Seq(1, 4, 5, 15, 16, 17, 40, 2000))
    test(s"$size keys, each put twice: in the first order, last values") {
      val keys = 0 until size
      assertEquals(built(keys ++ keys), (keys: Seq[Any], (size until 2 * size): Seq[Any]))
      assertEquals(built(keys ++ keys, expectedSize = size), built(keys ++ keys))
    }

  test("keys that repeat while the map grows beyond a search of all") {
    val keys = (0 until 20).flatMap(i => Seq(i, i / 2))
    assertEquals(built(keys)._1, (0 until 20): Seq[Any])
    assertEquals(built(keys)._2.take(3), Seq[Any](3, 7, 11))
  }

  test("a claim of many keys takes no memory for them") {
    assertEquals(built(Seq(1), expectedSize = Int.MaxValue), (Seq[Any](1), Seq[Any](0)))
  }

  test("a map without keys is empty in Spark's binary form, too") {
    val empty = new MapBuilder(0).result()
    assertEquals((empty.numElements(), empty.keyArray().numElements(), empty.valueArray().numElements()), (0, 0, 0))
    assertEquals(empty.copy().numElements(), 0)
  }
}
