package io.github.pulsarspark.schema.convert

import java.nio.{ByteBuffer, ByteOrder}
import java.util.{Arrays, HashMap => JHashMap}

import org.apache.spark.sql.catalyst.expressions.UnsafeMapData
import org.apache.spark.sql.catalyst.util.{ArrayBasedMapData, GenericArrayData, MapData}
import org.apache.spark.unsafe.Platform

/** Collects one Spark map. A repeated key keeps its last value, as in Pulsar's clients: Spark does not expect a key
  * twice.
  */
private[schema] final class MapBuilder(expectedSize: Int) {
  private var keys   = new Array[Any](math.max(4, math.min(expectedSize, MapBuilder.MaxInitialSize)))
  private var values = new Array[Any](keys.length)
  private var size   = 0
  // Comparing with every earlier key is fastest for the few entries of most maps; larger ones use an index.
  private var index: JHashMap[Any, Integer] = _

  def put(key: Any, value: Any): Unit = {
    val at = find(key)
    if (at >= 0) values(at) = value
    else {
      if (size == keys.length) {
        keys = Arrays.copyOf(keys.asInstanceOf[Array[Object]], size * 2).asInstanceOf[Array[Any]]
        values = Arrays.copyOf(values.asInstanceOf[Array[Object]], size * 2).asInstanceOf[Array[Any]]
      }
      keys(size) = key
      values(size) = value
      if (index != null) index.put(key, size)
      size += 1
    }
  }

  private def find(key: Any): Int =
    if (size < MapBuilder.SmallSize) {
      var i = size - 1
      while (i >= 0 && keys(i) != key) i -= 1
      i
    } else {
      if (index == null) {
        index = new JHashMap[Any, Integer]
        var i = 0
        while (i < size) { index.put(keys(i), i); i += 1 }
      }
      val at = index.get(key)
      if (at == null) -1 else at.intValue
    }

  def result(): MapData =
    if (size == 0) MapBuilder.Empty
    else new ArrayBasedMapData(new GenericArrayData(keys.take(size)), new GenericArrayData(values.take(size)))
}

private[schema] object MapBuilder {
  private val SmallSize      = 16
  private val MaxInitialSize = 1024

  /** Empty map in Spark's binary form, which is copied unchanged into rows: the size of the array of keys, then two
    * empty arrays.
    */
  val Empty: MapData = {
    val map   = new UnsafeMapData
    val bytes = ByteBuffer.allocate(24).order(ByteOrder.nativeOrder()).putLong(8).putLong(0).putLong(0).array
    map.pointTo(bytes, Platform.BYTE_ARRAY_OFFSET, bytes.length)
    map
  }
}
